import { badRequest } from '../errors.ts';

/** A resourceVersion from a request: undefined when none is given. */
export const parseResourceVersion = (text: string | undefined): number | undefined => {
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return Number(text);
};

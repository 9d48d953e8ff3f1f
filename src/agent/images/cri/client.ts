import type { Clock } from '../../../runtime/index.ts';
import { CriError } from './errors.ts';
import { callOnce } from './grpc.ts';
import { type Message, messageField, readMessage, textField, WireError } from './protobuf.ts';

/** For calls that only read. */
const READ_TIMEOUT_MS = 10_000;

/** Registry credentials, as in the CRI's AuthConfig. */
export interface RegistryLogin {
  username: string;
  password: string;
}

/** The container runtime, through CRI `runtime.v1`. The field numbers are those of cri-api's api.proto. */
export interface CriClient {
  /** Name, version, and conditions that are not ready. */
  check(signal: AbortSignal): Promise<{ runtime: string; problems: readonly string[] }>;
  hasImage(image: string, signal: AbortSignal): Promise<boolean>;
  /** What the runtime says about its size; undefined if the image isn't on the node or the runtime doesn't know. */
  imageBytes(image: string, signal: AbortSignal): Promise<number | undefined>;
  /** Needs a timeout: the runtime itself waits forever for a registry that does not respond. */
  pull(image: string, login: RegistryLogin | undefined, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Folder whose file system holds the images; undefined when the runtime does not say. */
  imageFolder(signal: AbortSignal): Promise<string | undefined>;
}

const imageSpec = (image: string): Uint8Array => messageField(1, textField(1, image));

export const createCriClient = (socketPath: string, clock: Clock): CriClient => {
  const call = async (
    path: string,
    message: Uint8Array,
    signal: AbortSignal,
    timeoutMs = READ_TIMEOUT_MS,
  ): Promise<Message> => {
    const answer = await callOnce(socketPath, clock, { path: `/runtime.v1.${path}`, message, timeoutMs, signal });
    try {
      return readMessage(answer);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      throw new CriError('Internal', `cannot parse the response of the container runtime: ${error.message}`, error);
    }
  };

  return {
    async check(signal) {
      const version = await call('RuntimeService/Version', textField(1, 'v1'), signal);
      const status = await call('RuntimeService/Status', new Uint8Array(0), signal);
      const conditions = status.message(1)?.messages(1) ?? [];
      return {
        runtime: `${version.text(2)} ${version.text(3)}`.trim(),
        problems: conditions
          .filter((condition) => condition.number(2) === 0)
          .map((condition) => `${condition.text(1)}: ${condition.text(4) || condition.text(3)}`),
      };
    },

    async hasImage(image, signal) {
      const status = await call('ImageService/ImageStatus', imageSpec(image), signal);
      return status.message(1) !== undefined;
    },

    async imageBytes(image, signal) {
      const status = await call('ImageService/ImageStatus', imageSpec(image), signal);
      return status.message(1)?.number(4) || undefined;
    },

    async pull(image, login, timeoutMs, signal) {
      const auth = login && messageField(2, textField(1, login.username), textField(2, login.password));
      const request = Buffer.concat([imageSpec(image), auth ?? new Uint8Array(0)]);
      await call('ImageService/PullImage', request, signal, timeoutMs);
    },

    async imageFolder(signal) {
      const info = await call('ImageService/ImageFsInfo', new Uint8Array(0), signal);
      return info.messages(1)[0]?.message(2)?.text(1) || undefined;
    },
  };
};

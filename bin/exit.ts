/**
 * Ends the process. A failure may leave work behind that would keep the process alive, such as writes that did not finish;
 * success leaves nothing.
 */
export const exit = (code: number): void => {
  if (code === 0) process.exitCode = 0;
  else process.exit(code);
};

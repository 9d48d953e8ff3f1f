/** A file of the owner's page, ready to be sent. */
export interface Asset {
  /** From the root, such as `/` or `/main-5X3QKJ2A.js`. Names with a hash in them never change their content. */
  path: string;
  contentType: string;
  body: string;
  /** With its quotes, as the header wants it. */
  etag: string;
}

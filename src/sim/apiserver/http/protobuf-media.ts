/** Apart from the decoder, so that only who gets protobuf loads it. */
export const isProtobuf = (contentType: string): boolean => contentType.includes('protobuf');

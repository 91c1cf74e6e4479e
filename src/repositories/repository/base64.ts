/**
 * The bytes of base64, with or without line breaks and padding; undefined when it is none (docs/faults 43): what node makes of
 * it by leaving characters out is not what anybody meant.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const digits = /\s/.test(text) ? text.replaceAll(/\s+/g, '') : text
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(digits)) return undefined
  const size = digits.indexOf('=') < 0 ? digits.length : digits.indexOf('=')
  // One digit alone is less than a byte; padding fills up to four.
  if (size % 4 === 1 || (size < digits.length && digits.length % 4 !== 0)) return undefined
  return Buffer.from(digits, 'base64')
}

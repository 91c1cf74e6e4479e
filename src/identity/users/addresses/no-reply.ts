/** The host of addresses that nobody reads. */
export function noReplyHost(externalUrl: string): string {
  const host = new URL(externalUrl).hostname.replaceAll(/[[\]:]/g, '-')
  return `noreply.${host}`
}

import { addressUrl, type Config, schemeOf } from '../../base/config.ts'

/**
 * The address of a server for programs on its own machine: that of the network may lead through a proxy, or nowhere. With TLS it is
 * that of the network: the certificate is for that name.
 */
export function localUrl(
  config: Config,
  { address, port }: { address: string; port: number },
): string {
  if (schemeOf(config) === 'https') return config.externalUrl
  return addressUrl({ '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address, port)
}

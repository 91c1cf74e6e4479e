import { addressUrl, type Config, isAnyAddress, schemeOf, sshUrl } from '../../base/config.ts'

/** What an operator reads once the server listens: where, and where links lead when that is another address. */
export function listeningLines(config: Config, address: string, port: number): string[] {
  const { externalUrl, isExternalUrlGiven } = config
  const here = addressUrl(address, port, schemeOf(config))
  const links = externalUrl === here ? '' : `, links lead to ${externalUrl}`
  const lines = [`Gitstead listens on ${here}${links}`]
  if (config.sshPort !== 0) {
    lines.push(
      `Git over SSH listens on port ${config.sshPort}: ${sshUrl(config, 'group/project.git')}`,
    )
  }
  if (isExternalUrlGiven || !isAnyAddress(config.host)) return lines
  return [
    ...lines,
    'Other machines cannot follow these links: set GITSTEAD_EXTERNAL_URL to the address that people use',
  ]
}

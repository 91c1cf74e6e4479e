/** Names of files that hold keys and passwords, as `prevent_secrets` refuses them (docs/contract/D §3.9). */
const patterns: readonly RegExp[] = [
  /(^|\/)(id_rsa|id_dsa|id_ed25519|id_ecdsa)$/,
  /(^|\/)[^/]*_(rsa|dsa|ed25519|ecdsa)$/,
  /\.(pem|key|p12|pkcs12|pfx|asc)$/,
  /(^|\/)aws\/credentials$/,
  /(^|\/)\.?(bash_history|zsh_history|sh_history|mysql_history|psql_history|pgpass|netrc|irb_history)$/,
  /(^|\/)(\.rhosts|\.htpasswd|jenkins\.plugins\.publish_over_ssh\.BapSshPublisherPlugin\.xml)$/,
]

/** Whether a path is that of a file with secrets. */
export function isSecretFile(path: string): boolean {
  return patterns.some((pattern) => pattern.test(path))
}

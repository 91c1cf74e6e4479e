import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** A certificate for this machine, which is its own authority. */
export function makeCertificate(folder: string, name: string): Certificate {
  const cert = join(folder, `${name}.pem`)
  const key = join(folder, `${name}.key`)
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const about = ['-nodes', '-days', '2', '-subj', `/CN=${name}`]
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync('openssl', [...kind, ...about, ...names, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  })
  return { cert, key }
}

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

const SLAPD = '/usr/sbin/slapd'

export const BASE = 'dc=example,dc=com'
export const ADMIN = { dn: `cn=admin,${BASE}`, password: 'the secret of the admin' }

/** Debian's slapd with people of its own, on two ports of this machine. */
export interface Slapd {
  readonly port: number
  readonly securePort: number
  /** PEM file of the authority that signed its certificate, which is for `localhost`. */
  readonly ca: string
  /** Adds, changes and removes entries, as LDIF says. */
  change(ldif: string): void
  close(): Promise<void>
}

export async function openSlapd(folder: string, people: string): Promise<Slapd> {
  mkdirSync(join(folder, 'db'), { recursive: true })
  const [key, ca] = makeCertificate(folder)
  const file = join(folder, 'slapd.conf')
  writeFileSync(
    file,
    `${['core', 'cosine', 'nis', 'inetorgperson'].map((name) => `include /etc/ldap/schema/${name}.schema`).join('\n')}
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile ${folder}/slapd.pid
TLSCertificateFile ${ca}
TLSCertificateKeyFile ${key}
TLSCACertificateFile ${ca}
database mdb
maxsize 10485760
suffix "${BASE}"
rootdn "${ADMIN.dn}"
rootpw "${ADMIN.password}"
directory ${folder}/db
index entryUUID,uid eq
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=reader,${BASE}" read by anonymous none by * none
`,
  )
  const ldif = join(folder, 'people.ldif')
  writeFileSync(ldif, people)
  execFileSync('/usr/sbin/slapadd', ['-f', file, '-l', ldif], { stdio: 'pipe' })
  const port = await freePort()
  const securePort = await freePort()
  const urls = `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${securePort}`
  const child = spawn(SLAPD, ['-f', file, '-h', urls, '-d', '0'], { stdio: 'ignore' })
  await listening(child, securePort)
  return {
    port,
    securePort,
    ca,
    change(text) {
      const url = ['-H', `ldap://127.0.0.1:${port}`, '-x', '-D', ADMIN.dn, '-w', ADMIN.password]
      execFileSync('ldapmodify', url, { input: text, stdio: 'pipe' })
    },
    async close() {
      if (child.exitCode !== null) return
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill()
      await gone
    },
  }
}

function makeCertificate(folder: string): [key: string, certificate: string] {
  const key = join(folder, 'key.pem')
  const certificate = join(folder, 'cert.pem')
  const options = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '3650',
  ]
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const out = ['-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', ...options, ...name, ...out], { stdio: 'pipe' })
  return [key, certificate]
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (child.exitCode !== null) throw new Error(`slapd ended with ${child.exitCode}`)
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isThere) return
    await sleep(50)
  }
  throw new Error('slapd does not listen')
}

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git, gitBytes, gitTestEnvironment } from './git.ts'
import { runProgram } from './run-program.ts'

/** A folder with keys of gpg, ssh-keygen and openssl, and commits signed with them by git itself. */
export class SigningFolder {
  // gpg keeps a socket there, whose path must be short.
  readonly folder = mkdtempSync(join(tmpdir(), 'sig-'))

  at(name: string): string {
    return join(this.folder, name)
  }

  run(program: string, args: readonly string[], input?: string | Buffer): Buffer {
    const env = { ...gitTestEnvironment, GNUPGHOME: this.folder }
    const done = runProgram({ program, args, cwd: this.folder, env, input })
    if (done.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${done.stderr}`)
    return done.stdout
  }

  gpg(...args: readonly string[]): string {
    return this.run('gpg', [
      '--batch',
      '--pinentry-mode',
      'loopback',
      '--passphrase',
      '',
      ...args,
    ]).toString()
  }

  /** Makes a key that signs, and gives its fingerprint. */
  gpgKey(person: string, algorithm = 'ed25519', expires = 'never'): string {
    this.gpg('--quick-gen-key', person, algorithm, 'sign', expires)
    return this.fingerprints(person)[0] ?? ''
  }

  /** Fingerprints of a person's key and of its subkeys, upper case. */
  fingerprints(person: string): string[] {
    const listed = this.gpg('--list-keys', '--with-colons', person)
    return [...listed.matchAll(/^fpr:+([0-9A-F]{40}):/gm)].map(([, print = '']) => print)
  }

  /** The armoured public key block. */
  gpgBlock(fingerprint: string): string {
    return this.gpg('--armor', '--export', fingerprint)
  }

  /** A new SSH key pair; gives the path of the private key. */
  sshKey(name: string, type = 'ed25519', bits: readonly string[] = []): string {
    this.run('ssh-keygen', ['-q', '-t', type, ...bits, '-N', '', '-C', '', '-f', this.at(name)])
    return this.at(name)
  }

  sshPublicKey(name: string): string {
    return readFileSync(this.at(`${name}.pub`), 'utf8').trim()
  }

  /** A commit on `parent`'s tree, signed by git with settings such as `gpg.format=ssh`. */
  commit(
    repoPath: string,
    options: {
      readonly key: string
      readonly tree: string
      readonly format?: 'openpgp' | 'ssh'
      readonly email?: string
      readonly message?: string
    },
  ): string {
    const { key, tree, format = 'openpgp', email, message = 'Signed\n\nétext' } = options
    const config = ['-c', `gpg.format=${format}`, '-c', `user.signingKey=${key}`]
    const env = { GNUPGHOME: this.folder, ...(email ? { GIT_COMMITTER_EMAIL: email } : {}) }
    return git(repoPath, [...config, 'commit-tree', '-S', tree, '-m', message], { env })
  }

  /** The commit with its bytes changed by `change`, its signature kept. */
  rewritten(repoPath: string, id: string, change: (text: string) => string): string {
    const raw = gitBytes(repoPath, ['cat-file', 'commit', id])
    const input = Buffer.from(change(raw.toString('latin1')), 'latin1')
    return git(repoPath, ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], { input })
  }

  /** The commit with `armoured` as its signature. */
  withSignature(repoPath: string, id: string, armoured: string): string {
    const header = `gpgsig ${armoured.trim().replaceAll('\n', '\n ')}`
    return this.rewritten(repoPath, id, (text) => text.replace('\n\n', `\n${header}\n\n`))
  }

  /** Runs `openssl req` for a certificate; without an authority it signs itself. */
  certificate(name: string, about: Certificate): void {
    const extensions = [
      'subjectKeyIdentifier=hash',
      about.authority === undefined ? '' : 'authorityKeyIdentifier=keyid:always',
      `basicConstraints=critical,CA:${about.isAuthority ? 'TRUE' : 'FALSE'}`,
      ...(about.extensions ?? []),
    ]
    const config = `[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nO=Example\nCN=${about.name}\n[ext]\n${extensions.join('\n')}\n`
    writeFileSync(this.at(`${name}.cnf`), config)
    const make = ['req', '-new', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
    const key = ['-keyout', this.at(`${name}.key`), '-out', this.at(`${name}.csr`)]
    this.run('openssl', [...make, ...key, '-config', this.at(`${name}.cnf`)])
    const sign = ['-in', this.at(`${name}.csr`), '-out', this.at(`${name}.pem`), '-days', '30']
    const by =
      about.authority === undefined
        ? ['-signkey', this.at(`${name}.key`)]
        : ['-CA', this.at(`${about.authority}.pem`), '-CAkey', this.at(`${about.authority}.key`)]
    const more = ['-extfile', this.at(`${name}.cnf`), '-extensions', 'ext']
    const serial = ['-set_serial', about.serial ?? '0x1234']
    this.run('openssl', ['x509', '-req', ...sign, ...by, ...more, ...serial])
  }

  /** The commit signed with a certificate, as smimesign and gpgsm do it. */
  cmsCommit(repoPath: string, id: string, name: string, more: readonly string[] = []): string {
    const raw = gitBytes(repoPath, ['cat-file', 'commit', id])
    return this.withSignature(repoPath, id, this.cms(raw, name, more))
  }

  cms(bytes: Buffer, name: string, more: readonly string[] = []): string {
    const files = ['-signer', this.at(`${name}.pem`), '-inkey', this.at(`${name}.key`)]
    const args = ['cms', '-sign', '-binary', ...files, '-outform', 'DER', ...more]
    const lines =
      this.run('openssl', args, bytes)
        .toString('base64')
        .match(/.{1,64}/g) ?? []
    return ['-----BEGIN SIGNED MESSAGE-----', ...lines, '-----END SIGNED MESSAGE-----'].join('\n')
  }

  close(): void {
    this.run('gpgconf', ['--homedir', this.folder, '--kill', 'all'])
    rmSync(this.folder, { recursive: true, force: true })
  }
}

interface Certificate {
  readonly name: string
  readonly isAuthority?: boolean
  readonly authority?: string
  readonly serial?: string
  readonly extensions?: readonly string[]
}

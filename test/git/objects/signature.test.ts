import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSignature, readSignatureOf } from '../../../src/git/objects/signature.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles } from '../../support/fast-import.ts'
import {
  type GitWorld,
  git,
  gitBytes,
  gitTestEnvironment,
  openGitWorld,
} from '../../support/git.ts'

let world: GitWorld
let repo: Repo
let folder: string
let parent: string
let tree: string

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  // gpg keeps a socket there, whose path must be short.
  folder = mkdtempSync(join(tmpdir(), 'sig-'))
  parent = commitFiles(repo, { files: { a: 'a\n' } })
  tree = git(repo.path, ['rev-parse', `${parent}^{tree}`])
})
afterAll(async () => {
  run('gpgconf', ['--homedir', folder, '--kill', 'all'])
  rmSync(folder, { recursive: true, force: true })
  await world.close()
})

function run(program: string, args: readonly string[], input?: string | Buffer): Buffer {
  return execFileSync(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...gitTestEnvironment, GNUPGHOME: folder },
    ...(input === undefined ? {} : { input }),
  })
}

test('a PGP signature names its key, and its payload verifies', async () => {
  const user = 'Ana <ana@x.test>'
  run('gpg', ['--batch', '--passphrase', '', '--quick-gen-key', user, 'ed25519', 'sign', 'never'])
  const listed = run('gpg', ['--list-keys', '--with-colons']).toString()
  const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? ''
  const env = { GNUPGHOME: folder }
  const id = git(
    repo.path,
    ['commit-tree', tree, '-p', parent, `-S${fingerprint}`, '-m', 'é\n\nb'],
    { env },
  )
  const signed = await readSignature(repo, id)
  expect(signed.details).toEqual({ kind: 'PGP', keyId: fingerprint.slice(-16), fingerprint })
  writeFileSync(join(folder, 'sig'), signed.signature)
  writeFileSync(join(folder, 'data'), signed.payload)
  run('gpg', ['--verify', join(folder, 'sig'), join(folder, 'data')])

  git(repo.path, ['tag', '-s', '-u', fingerprint, '-m', 'Tag', 'signed', id], { env })
  const tag = await readSignature(repo, git(repo.path, ['rev-parse', 'signed']))
  expect(tag.details).toEqual(signed.details)
  writeFileSync(join(folder, 'sig'), tag.signature)
  writeFileSync(join(folder, 'data'), tag.payload)
  run('gpg', ['--verify', join(folder, 'sig'), join(folder, 'data')])
})

test('an SSH signature carries its public key, and its payload verifies', async () => {
  const key = join(folder, 'id')
  run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key])
  const config = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}.pub`]
  const id = git(repo.path, [...config, 'commit-tree', tree, '-S', '-m', 'signed'])
  const signed = await readSignature(repo, id)
  const publicKey = readFileSync(`${key}.pub`, 'utf8').trim()
  const shown = run('ssh-keygen', ['-l', '-f', `${key}.pub`]).toString()
  expect(signed.details).toEqual({
    kind: 'SSH',
    key: {
      type: 'ssh-ed25519',
      fingerprint: shown.split(' ')[1],
      namespace: 'git',
    },
  })
  const allowed = join(folder, 'allowed')
  writeFileSync(allowed, `ana@x.test ${publicKey}\n`)
  writeFileSync(join(folder, 'sig'), `${signed.signature}\n`)
  const verify = [
    '-Y',
    'verify',
    '-f',
    allowed,
    '-I',
    'ana@x.test',
    '-n',
    'git',
    '-s',
    join(folder, 'sig'),
  ]
  run('ssh-keygen', verify, signed.payload)
})

test('an X.509 signature says who signed and who vouches', async () => {
  const at = (name: string) => join(folder, name)
  // Another extension that holds the bytes of one with a list of revoked certificates at http://evil.x.
  const misleading = '1.2.3.4=DER:0603551d1f040d687474703a2f2f6576696c2e78'
  const config = `[req]\ndistinguished_name=dn\nprompt=no\nx509_extensions=ext\n[dn]\nO=Example\nCN=Ana\nemailAddress=ana@x.test\n[ext]\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid:always\nbasicConstraints=CA:FALSE\n${misleading}\nsubjectAltName=email:ana@alt.test\ncrlDistributionPoints=URI:http://crl.x.test/a.crl\n`
  writeFileSync(at('cnf'), config)
  const make = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    at('k'),
    '-out',
    at('c'),
    '-days',
    '9',
  ]
  run('openssl', [...make, '-config', at('cnf'), '-set_serial', '0x1234'])
  const raw = gitBytes(repo.path, ['cat-file', 'commit', parent])
  const cms = run(
    'openssl',
    ['cms', '-sign', '-binary', '-signer', at('c'), '-inkey', at('k'), '-outform', 'DER'],
    raw,
  )
  const lines = cms.toString('base64').match(/.{1,64}/g) ?? []
  const armoured = [
    '-----BEGIN SIGNED MESSAGE-----',
    ...lines,
    '-----END SIGNED MESSAGE-----',
  ].join('\n ')
  const data = Buffer.from(
    raw.toString('latin1').replace('\n\n', `\ngpgsig ${armoured}\n\n`),
    'latin1',
  )
  const id = git(repo.path, ['hash-object', '-t', 'commit', '-w', '--stdin'], { input: data })
  const signed = await readSignature(repo, id)
  expect(signed.payload.equals(raw)).toBe(true)
  const shown = run('openssl', [
    'x509',
    '-in',
    at('c'),
    '-noout',
    '-ext',
    'subjectKeyIdentifier',
  ]).toString()
  const keyIdentifier = /[0-9A-F:]{59}/.exec(shown)?.[0]
  expect(signed.details).toMatchObject({
    kind: 'X509',
    signer: {
      subject: 'emailAddress=ana@x.test,CN=Ana,O=Example',
      issuer: 'emailAddress=ana@x.test,CN=Ana,O=Example',
      serialNumber: '1234',
      email: 'ana@alt.test',
      subjectKeyIdentifier: keyIdentifier,
      issuerKeyIdentifier: keyIdentifier,
      crlUrl: 'http://crl.x.test/a.crl',
    },
  })
})

describe('what is not well signed', () => {
  test('an unsigned commit and an unsigned tag have none', async () => {
    await expect(readSignature(repo, parent)).rejects.toMatchObject({ code: 'not_found' })
    git(repo.path, ['tag', '-m', 'plain', 'plain', parent])
    const tag = git(repo.path, ['rev-parse', 'plain'])
    await expect(readSignature(repo, tag)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a signature of a version that nobody knows yet is one without details', async () => {
    const packet = Buffer.from([0xc2, 1, 7]).toString('base64')
    const armoured = `-----BEGIN PGP SIGNATURE-----\n \n ${packet}\n -----END PGP SIGNATURE-----`
    const data = Buffer.from(`tree ${tree}\ngpgsig ${armoured}\n\nmessage`)
    const signed = await readSignatureOf('commit', data)
    expect(signed.details).toEqual({ kind: 'PGP' })
  })

  test('a damaged signature is a signature without details', async () => {
    const kinds = ['PGP SIGNATURE', 'SSH SIGNATURE', 'SIGNED MESSAGE'] as const
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...kinds),
        fc.base64String({ maxLength: 300 }),
        async (kind, body) => {
          const armoured = `-----BEGIN ${kind}-----\n \n ${body}\n -----END ${kind}-----`
          const data = Buffer.from(`tree ${tree}\ngpgsig ${armoured}\n\nmessage`)
          const signed = await readSignatureOf('commit', data)
          expect(signed.payload.toString()).toBe(`tree ${tree}\n\nmessage`)
          expect(['PGP', 'SSH', 'X509']).toContain(signed.details.kind)
        },
      ),
    )
  })
})

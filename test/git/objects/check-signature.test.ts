import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkSignature, readSignature } from '../../../src/git/objects/signature.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, git, gitBytes, openGitWorld } from '../../support/git.ts'
import { SigningFolder } from '../../support/signing.ts'

let world: GitWorld
let repo: Repo
let signing: SigningFolder
let plain: string
let tree: string

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  signing = new SigningFolder()
  const base = commitFiles(repo, { files: { a: 'a\n' } })
  tree = git(repo.path, ['rev-parse', `${base}^{tree}`])
  // Certificates begin now, so that what they sign must not be older.
  const now = { GIT_COMMITTER_DATE: `${Math.floor(Date.now() / 1000) + 60} +0000` }
  plain = git(repo.path, ['commit-tree', tree, '-m', 'Plain'], { env: now })
})
afterAll(async () => {
  signing.close()
  await world.close()
})

const forge = (text: string) => text.replace('Signed', 'Forged')

describe('PGP', () => {
  test.each(['ed25519', 'rsa2048', 'nistp256', 'dsa1024'])(
    'a signature of %s is good for its key and its bytes alone',
    async (algorithm) => {
      const key = signing.gpgKey(`${algorithm} <${algorithm}@x.test>`, algorithm)
      const other = signing.gpgKey(`${algorithm}2 <${algorithm}2@x.test>`)
      const id = signing.commit(repo.path, { key, tree })
      git(repo.path, ['verify-commit', id], { env: { GNUPGHOME: signing.folder } })
      const check = (of: string, by: string) =>
        checkSignature(repo, { id: of, pgpKey: signing.gpgBlock(by) })
      const good = await check(id, key)
      const person = { name: algorithm, email: `${algorithm}@x.test` }
      // DSA is no longer taken by anybody but gpg.
      const valid = algorithm !== 'dsa1024'
      expect(good).toEqual({ kind: 'PGP', several: false, valid, revoked: false, people: [person] })
      expect(await check(id, other)).toMatchObject({ valid: false })
      const forged = signing.rewritten(repo.path, id, forge)
      expect(() =>
        git(repo.path, ['verify-commit', forged], { env: { GNUPGHOME: signing.folder } }),
      ).toThrow()
      expect(await check(forged, key)).toMatchObject({ valid: false, revoked: false })
    },
  )

  test('a subkey signs for its key, a revoked one does not', async () => {
    const person = 'Sub <sub@x.test>'
    const key = signing.gpgKey(person)
    signing.gpg('--quick-add-key', key, 'ed25519', 'sign', 'never')
    const subkey = signing.fingerprints(person)[1] ?? ''
    const id = signing.commit(repo.path, { key: `${subkey}!`, tree })
    const { details } = await readSignature(repo, id)
    expect(details).toMatchObject({ fingerprint: subkey })
    const before = signing.gpgBlock(key)
    expect(await checkSignature(repo, { id, pgpKey: before })).toMatchObject({ valid: true })
    const commands = 'key 1\nrevkey\ny\n1\n\ny\nsave\n'
    signing.run(
      'gpg',
      [
        '--no-tty',
        '--command-fd',
        '0',
        '--pinentry-mode',
        'loopback',
        '--expert',
        '--edit-key',
        key,
      ],
      commands,
    )
    const after = signing.gpgBlock(key)
    const found = await checkSignature(repo, { id, pgpKey: after })
    expect(found).toMatchObject({ valid: false, revoked: true })
  })

  test('a key that was revoked vouches for nothing', async () => {
    const person = 'Rev <rev@x.test>'
    const key = signing.gpgKey(person)
    const id = signing.commit(repo.path, { key, tree })
    const stored = signing.at(`openpgp-revocs.d/${key}.rev`)
    // gpg spoils the certificate with a colon so that nobody imports it by accident.
    writeFileSync(stored, readFileSync(stored, 'utf8').replace(':-----BEGIN', '-----BEGIN'))
    signing.gpg('--import', stored)
    const found = await checkSignature(repo, { id, pgpKey: signing.gpgBlock(key) })
    expect(found).toMatchObject({ kind: 'PGP', revoked: true, valid: false })
  })

  test('two signatures in one are seen', async () => {
    const one = signing.gpgKey('One <one@x.test>')
    const two = signing.gpgKey('Two <two@x.test>')
    const raw = gitBytes(repo.path, ['cat-file', 'commit', plain])
    const sign = ['--batch', '--armor', '--detach-sign', '-u', one, '-u', two]
    const armoured = signing.run('gpg', sign, raw).toString()
    const id = signing.withSignature(repo.path, plain, armoured)
    expect(await checkSignature(repo, { id })).toMatchObject({ several: true, valid: false })
    const pgpKey = signing.gpgBlock(one)
    expect(await checkSignature(repo, { id, pgpKey })).toMatchObject({
      several: true,
      valid: false,
    })
  })

  test('what is no key and no signature is not valid', async () => {
    const key = signing.gpgKey('Odd <odd@x.test>')
    const id = signing.commit(repo.path, { key, tree })
    expect(await checkSignature(repo, { id, pgpKey: 'nothing' })).toMatchObject({ valid: false })
    const armoured = '-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----'
    const damaged = signing.withSignature(repo.path, plain, armoured)
    const found = await checkSignature(repo, { id: damaged, pgpKey: signing.gpgBlock(key) })
    expect(found).toMatchObject({ kind: 'PGP', valid: false })
  })
})

describe('SSH', () => {
  test.each([
    ['ed25519', []],
    ['rsa', ['-b', '2048']],
    ['ecdsa', ['-b', '256']],
    ['ecdsa', ['-b', '384']],
    ['ecdsa', ['-b', '521']],
  ] as const)('a signature of %s %j is good for its bytes alone', async (type, bits) => {
    const name = `${type}${bits.join('')}`
    const key = signing.sshKey(name, type, bits)
    // ECDSA's numbers are sometimes shorter than the curve.
    for (let round = 0; round < 4; round++) {
      const message = `Signed ${round}`
      const id = signing.commit(repo.path, { key: `${key}.pub`, tree, format: 'ssh', message })
      expect(await checkSignature(repo, { id })).toEqual({ kind: 'SSH', valid: true })
      const forged = signing.rewritten(repo.path, id, forge)
      expect(await checkSignature(repo, { id: forged })).toEqual({ kind: 'SSH', valid: false })
    }
  })

  test('a signature that was made for something else than git is none', async () => {
    signing.sshKey('purpose')
    const raw = gitBytes(repo.path, ['cat-file', 'commit', plain])
    const sign = (namespace: string) => {
      const args = ['-Y', 'sign', '-q', '-n', namespace, '-f', signing.at('purpose')]
      return signing.run('ssh-keygen', args, raw).toString()
    }
    const good = signing.withSignature(repo.path, plain, sign('git'))
    expect(await checkSignature(repo, { id: good })).toEqual({ kind: 'SSH', valid: true })
    const file = signing.withSignature(repo.path, plain, sign('file'))
    expect(await checkSignature(repo, { id: file })).toEqual({ kind: 'SSH', valid: false })
  })

  test('a tag is checked over its own bytes', async () => {
    const key = signing.sshKey('tagger')
    const config = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}.pub`]
    git(repo.path, [...config, 'tag', '-s', '-m', 'Signed tag', 'signed', plain])
    const id = git(repo.path, ['rev-parse', 'signed'])
    expect(await checkSignature(repo, { id })).toEqual({ kind: 'SSH', valid: true })
  })
})

describe('X.509', () => {
  const emails = [
    'subjectAltName=email:ana@x.test,email:Ana@Y.test',
    'extendedKeyUsage=emailProtection',
  ]
  beforeAll(() => {
    signing.certificate('root', { name: 'Root', isAuthority: true })
    signing.certificate('middle', { name: 'Middle', isAuthority: true, authority: 'root' })
    signing.certificate('ana', { name: 'Ana', authority: 'middle', extensions: emails })
    const server = ['subjectAltName=email:ana@x.test', 'extendedKeyUsage=serverAuth']
    signing.certificate('server', { name: 'Server', authority: 'root', extensions: server })
    signing.certificate('self', { name: 'Self', extensions: emails })
    // Not an authority, although it signs like one.
    signing.certificate('false', { name: 'Sub', authority: 'ana', extensions: emails })
  })

  const check = (id: string, authority = 'root') =>
    checkSignature(repo, { id, authorities: signing.at(`${authority}.pem`) })
  const chain = (...names: string[]) => {
    const file = signing.at(`${names.join('-')}.chain`)
    writeFileSync(file, names.map((name) => readFileSync(signing.at(`${name}.pem`))).join(''))
    return ['-certfile', file]
  }

  test('a signature is trusted through the certificates that come with it', async () => {
    const id = signing.cmsCommit(repo.path, plain, 'ana', chain('middle'))
    expect(await check(id)).toMatchObject({
      kind: 'X509',
      valid: true,
      trusted: true,
      emails: ['ana@x.test', 'ana@y.test'],
      signer: { subject: 'CN=Ana,O=Example', issuer: 'CN=Middle,O=Example', serialNumber: '1234' },
    })
    expect(await check(id, 'self')).toMatchObject({ valid: true, trusted: false })
    expect(await check(id, 'missing')).toMatchObject({ valid: true, trusted: false })
    const alone = signing.cmsCommit(repo.path, plain, 'ana')
    expect(await check(alone)).toMatchObject({ valid: true, trusted: false })
    expect(await check(alone, 'middle')).toMatchObject({ valid: true, trusted: true })
  })

  test('a signature without attributes, and one by key identifier, are read too', async () => {
    for (const more of [['-noattr'], ['-keyid'], ['-md', 'sha512']]) {
      const id = signing.cmsCommit(repo.path, plain, 'ana', [...chain('middle'), ...more])
      expect(await check(id), more.join()).toMatchObject({ valid: true, trusted: true })
    }
  })

  test('other bytes, a certificate for something else, or one that vouches for itself fail', async () => {
    const id = signing.cmsCommit(repo.path, plain, 'ana', chain('middle'))
    const forged = signing.rewritten(repo.path, id, (text) => text.replace('Plain', 'Other'))
    expect(await check(forged)).toMatchObject({ valid: false })
    const server = signing.cmsCommit(repo.path, plain, 'server')
    expect(await check(server)).toMatchObject({ valid: true, trusted: false })
    const self = signing.cmsCommit(repo.path, plain, 'self')
    expect(await check(self)).toMatchObject({ valid: true, trusted: false })
    const below = signing.cmsCommit(repo.path, plain, 'false', chain('ana', 'middle'))
    expect(await check(below)).toMatchObject({ valid: true, trusted: false })
  })

  test('content that comes inside the signature counts for nothing', async () => {
    const id = signing.cmsCommit(repo.path, plain, 'ana', [...chain('middle'), '-nodetach'])
    expect(await check(id)).toMatchObject({ valid: false, trusted: false })
    const raw = gitBytes(repo.path, ['cat-file', 'commit', plain])
    const armoured = signing.cms(raw, 'ana', [...chain('middle'), '-nodetach'])
    const other = git(repo.path, ['commit-tree', tree, '-m', 'Something else'])
    const moved = signing.withSignature(repo.path, other, armoured)
    expect(await check(moved)).toMatchObject({ valid: false, trusted: false })
  })
})

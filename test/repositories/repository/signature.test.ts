import { copyFileSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Repo } from '../../../src/git/repo.ts'
import { createProject } from '../../support/create.ts'
import { git, gitBytes } from '../../support/git.ts'
import { SigningFolder } from '../../support/signing.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let signing: SigningFolder
let world: World
let ana: Caller
let bob: Caller
let repo: Repo
let tree: string
let at: string

beforeAll(async () => {
  signing = new SigningFolder()
  world = await openWorld({ x509Authorities: signing.at('authorities.pem') })
  ana = await world.user('ana')
  bob = await world.user('bob')
  const { id } = await createProject(ana, 'signed', { initialize_with_readme: true })
  repo = world.ctx.git.open(id)
  tree = git(repo.path, ['rev-parse', 'HEAD^{tree}'])
  at = `/projects/${id}/repository`
})
afterAll(async () => {
  signing.close()
  await world.close()
})

async function signature(id: string) {
  const { status, body } = await ana.get(`${at}/commits/${id}/signature`)
  expect(status).toBe(200)
  return body
}

describe('GPG', () => {
  const person = 'Ana <ana@example.com>'
  let key: string
  let subkey: string
  const commit = (email: string, by = key) => signing.commit(repo.path, { key: by, tree, email })

  beforeAll(() => {
    key = signing.gpgKey(person)
    signing.gpg('--quick-add-uid', key, 'Ana at work <ana@work.test>')
    signing.gpg('--quick-add-key', key, 'ed25519', 'sign', 'never')
    subkey = signing.fingerprints(person)[1] ?? ''
  })

  test('a signature of a key that nobody registered is of an unknown key', async () => {
    expect(await signature(commit('ana@example.com', `${key}!`))).toEqual({
      signature_type: 'PGP',
      verification_status: 'unknown_key',
      commit_source: 'gitaly',
      gpg_key_id: null,
      gpg_key_primary_keyid: key.slice(-16),
      gpg_key_user_name: null,
      gpg_key_user_email: null,
      gpg_key_subkey_id: null,
    })
  })

  test('a registered key is judged by whose address the committer used', async () => {
    const added = await ana.post('/user/gpg_keys', { key: signing.gpgBlock(key) })
    expect(added.status).toBe(201)
    const own = await signature(commit('ana@example.com', `${key}!`))
    expect(own).toEqual({
      signature_type: 'PGP',
      verification_status: 'verified',
      commit_source: 'gitaly',
      gpg_key_id: added.body.id,
      gpg_key_primary_keyid: key.slice(-16),
      gpg_key_user_name: 'Ana',
      gpg_key_user_email: 'ana@example.com',
      gpg_key_subkey_id: null,
    })
    const statusFor = async (email: string) => (await signature(commit(email))).verification_status
    expect(await statusFor('ANA@example.com')).toBe('verified')
    expect(await statusFor('bob@example.com')).toBe('other_user')
    // The key names it, but Ana never showed that it is hers.
    expect(await statusFor('ana@work.test')).toBe('other_user')
    await world.root.post(`/users/${ana.id}/emails`, {
      email: 'ana@home.test',
      skip_confirmation: true,
    })
    expect(await statusFor('ana@home.test')).toBe('same_user_different_email')
  })

  test('a subkey signs for its key', async () => {
    const found = await signature(commit('ana@example.com', `${subkey}!`))
    expect(found).toMatchObject({
      verification_status: 'verified',
      gpg_key_primary_keyid: key.slice(-16),
      gpg_key_subkey_id: expect.any(Number),
    })
  })

  test('other bytes are not verified', async () => {
    const id = commit('ana@example.com')
    const forged = signing.rewritten(repo.path, id, (text) => text.replace('Signed', 'Forged'))
    expect((await signature(forged)).verification_status).toBe('unverified')
  })

  test('a key that names no address of its user is not verified', async () => {
    const other = signing.gpgKey('Bob <bob@elsewhere.test>')
    await bob.post('/user/gpg_keys', { key: signing.gpgBlock(other) })
    const found = await signature(commit('bob@example.com', other))
    expect(found).toMatchObject({
      verification_status: 'unverified_key',
      gpg_key_user_email: 'bob@elsewhere.test',
    })
  })

  test('two signatures, and a revoked key, are recognized', async () => {
    const one = signing.gpgKey('Two <bob@example.com>')
    await bob.post('/user/gpg_keys', { key: signing.gpgBlock(one) })
    const plain = git(repo.path, ['commit-tree', tree, '-m', 'Plain'])
    const raw = gitBytes(repo.path, ['cat-file', 'commit', plain])
    const sign = ['--batch', '--armor', '--detach-sign', '-u', one, '-u', key]
    const id = signing.withSignature(repo.path, plain, signing.run('gpg', sign, raw).toString())
    expect((await signature(id)).verification_status).toBe('multiple_signatures')
  })

  test('a key that is taken away leaves its signatures unknown', async () => {
    const id = commit('ana@example.com')
    expect((await signature(id)).verification_status).toBe('verified')
    const [own] = (await ana.get('/user/gpg_keys')).body
    await ana.delete(`/user/gpg_keys/${own.id}`)
    expect((await signature(id)).verification_status).toBe('unknown_key')
  })

  test('a signed tag is judged like a commit', async () => {
    await ana.post('/user/gpg_keys', { key: signing.gpgBlock(key) })
    const env = { GNUPGHOME: signing.folder, GIT_COMMITTER_EMAIL: 'ana@example.com' }
    git(repo.path, ['tag', '-s', '-u', key, '-m', 'Signed', 'v1.0', 'HEAD'], { env })
    const { body } = await ana.get(`${at}/tags/v1.0/signature`)
    expect(body).toMatchObject({ signature_type: 'PGP', verification_status: 'verified' })
  })
})

describe('SSH', () => {
  const commit = (name: string, email: string) =>
    signing.commit(repo.path, { key: signing.at(`${name}.pub`), tree, format: 'ssh', email })

  test('a key for signing speaks for its user, one for signing in for nobody', async () => {
    signing.sshKey('laptop')
    const id = commit('laptop', 'ana@example.com')
    expect(await signature(id)).toEqual({
      signature_type: 'SSH',
      verification_status: 'unknown_key',
      commit_source: 'gitaly',
      key: null,
    })
    const added = await ana.post('/user/keys', {
      title: 'Laptop',
      key: signing.sshPublicKey('laptop'),
      usage_type: 'signing',
    })
    expect(await signature(id)).toMatchObject({
      verification_status: 'verified',
      key: { id: added.body.id, title: 'Laptop', usage_type: 'signing' },
    })
    const statusFor = async (email: string) =>
      (await signature(commit('laptop', email))).verification_status
    expect(await statusFor('bob@example.com')).toBe('other_user')
    expect(await statusFor('nobody@example.com')).toBe('other_user')
    const forged = signing.rewritten(repo.path, id, (text) => text.replace('Signed', 'Forged'))
    expect((await signature(forged)).verification_status).toBe('unverified')
    signing.sshKey('door')
    const key = signing.sshPublicKey('door')
    await ana.post('/user/keys', { title: 'Door', key, usage_type: 'auth' })
    const byDoor = await signature(commit('door', 'ana@example.com'))
    expect(byDoor).toMatchObject({ verification_status: 'unknown_key', key: null })
  })

  test('a key speaks for what was written before its end', async () => {
    signing.sshKey('brief')
    // The commits below are of 2021.
    const key = signing.sshPublicKey('brief')
    world.setNow('2020-01-01T00:00:00.000Z')
    const brief = { title: 'Brief', key, expires_at: '2021-01-01T00:00:00Z' }
    expect((await ana.post('/user/keys', brief)).status).toBe(201)
    world.setNow('2026-05-04T10:00:00.000Z')
    const late = await signature(commit('brief', 'ana@example.com'))
    expect(late.verification_status).toBe('unverified_key')
    const env = { GIT_COMMITTER_DATE: '1600000000 +0000', GIT_COMMITTER_EMAIL: 'ana@example.com' }
    const config = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${signing.at('brief.pub')}`]
    const id = git(repo.path, [...config, 'commit-tree', '-S', tree, '-m', 'Early'], { env })
    expect((await signature(id)).verification_status).toBe('verified')
  })
})

describe('X.509', () => {
  test('a certificate is trusted by the authorities of the server, and its data is shown', async () => {
    signing.certificate('root', { name: 'Root', isAuthority: true })
    const crl = 'crlDistributionPoints=URI:http://crl.test/root.crl'
    const extensions = ['subjectAltName=email:ana@example.com', crl]
    signing.certificate('ana', { name: 'Ana', authority: 'root', serial: '0xabcdef', extensions })
    const env = { GIT_COMMITTER_EMAIL: 'ana@example.com' }
    const plain = git(repo.path, ['commit-tree', tree, '-m', 'Plain'], { env })
    const id = signing.cmsCommit(repo.path, plain, 'ana')
    const before = await signature(id)
    expect(before).toMatchObject({ signature_type: 'X509', verification_status: 'unverified' })
    copyFileSync(signing.at('root.pem'), signing.at('authorities.pem'))
    const shown = (name: string) =>
      /[0-9A-F:]{59}/.exec(
        signing
          .run(
            'openssl',
            ['x509', '-noout', '-ext', 'subjectKeyIdentifier'],
            readFileSync(signing.at(`${name}.pem`)),
          )
          .toString(),
      )?.[0]
    expect(await signature(id)).toEqual({
      signature_type: 'X509',
      verification_status: 'verified',
      commit_source: 'gitaly',
      x509_certificate: {
        id: expect.any(Number),
        subject: 'CN=Ana,O=Example',
        subject_key_identifier: shown('ana'),
        email: 'ana@example.com',
        serial_number: 'ABCDEF',
        certificate_status: 'good',
        x509_issuer: {
          id: expect.any(Number),
          subject: 'CN=Root,O=Example',
          subject_key_identifier: shown('root'),
          crl_url: 'http://crl.test/root.crl',
        },
      },
    })
    const foreign = git(repo.path, ['commit-tree', tree, '-m', 'Plain'], {
      env: { GIT_COMMITTER_EMAIL: 'bob@example.com' },
    })
    const other = await signature(signing.cmsCommit(repo.path, foreign, 'ana'))
    expect(other.verification_status).toBe('unverified')
    // A commit that claims to be younger than its signature took the signature from elsewhere.
    const date = { GIT_COMMITTER_DATE: `${Math.floor(Date.now() / 1000) + 1000} +0000` }
    const younger = git(repo.path, ['commit-tree', tree, '-m', 'Plain'], {
      env: { ...env, ...date },
    })
    const taken = await signature(signing.cmsCommit(repo.path, younger, 'ana'))
    expect(taken.verification_status).toBe('unverified')
  })
})

test('a damaged signature is one that is not verified', async () => {
  const plain = git(repo.path, ['commit-tree', tree, '-m', 'Plain'])
  for (const [kind, type, status] of [
    ['PGP SIGNATURE', 'PGP', 'unknown_key'],
    ['SSH SIGNATURE', 'SSH', 'unverified'],
    ['SIGNED MESSAGE', 'X509', 'unverified'],
  ] as const) {
    const armoured = `-----BEGIN ${kind}-----\n\nMAAA\n-----END ${kind}-----`
    const id = signing.withSignature(repo.path, plain, armoured)
    const found = await signature(id)
    expect(found).toMatchObject({ signature_type: type, verification_status: status })
  }
  expect((await ana.get(`${at}/commits/${plain}/signature`)).status).toBe(404)
})

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseGpgKey } from '../../../src/base/gpg-key.ts'
import { parseSshKey } from '../../../src/identity/keys/parse-ssh-key.ts'
import { newFolder } from '../../support/database.ts'
import { ed25519, field, gpgKey, rsa, sshLine } from '../../support/keys.ts'
import { isThere } from '../../support/needed.ts'

describe('SSH keys', () => {
  test('are read with their fingerprints, as OpenSSH prints them', () => {
    // Known answer: `ssh-keygen -l` of this key.
    const line = `ssh-ed25519 ${sshLine('ssh-ed25519', Buffer.alloc(32, 7)).split(' ')[1]} ana@laptop`
    const bytes = Buffer.from(line.split(' ')[1] ?? '', 'base64')
    const key = parseSshKey(`  ${line}\n`)
    expect(key).toMatchObject({ text: line, type: 'ssh-ed25519', bits: 256 })
    const digest = createHash('sha256').update(bytes).digest('base64').replace('=', '')
    expect(key?.fingerprintSha256).toBe(`SHA256:${digest}`)
    expect(key?.fingerprintMd5).toMatch(/^([0-9a-f]{2}:){15}[0-9a-f]{2}$/)
  })
  test('of every modern kind are taken', () => {
    expect(parseSshKey(ed25519())).toBeDefined()
    expect(parseSshKey(rsa(2048))).toMatchObject({ bits: 2048 })
    for (const [curve, named, bits] of [
      ['nistp256', 'P-256', 256],
      ['nistp384', 'P-384', 384],
      ['nistp521', 'P-521', 521],
    ] as const) {
      const { publicKey } = generateKeyPairSync('ec', { namedCurve: named })
      const jwk = publicKey.export({ format: 'jwk' })
      const point = Buffer.concat([
        Buffer.from([4]),
        Buffer.from(jwk.x ?? '', 'base64url'),
        Buffer.from(jwk.y ?? '', 'base64url'),
      ])
      const line = sshLine(`ecdsa-sha2-${curve}`, Buffer.from(curve), point)
      expect(parseSshKey(line)).toMatchObject({ bits })
    }
    const hardware = sshLine('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 3), Buffer.from('ssh:'))
    expect(parseSshKey(hardware)).toBeDefined()
  })
  test('that lie, or carry more than a key, are refused', () => {
    const good = ed25519()
    const data = good.split(' ')[1] ?? ''
    const tail = Buffer.concat([Buffer.from(data, 'base64'), field(Buffer.from('x'))])
    for (const bad of [
      '',
      'x',
      'ssh-ed25519',
      `ssh-rsa ${data}`,
      `ssh-ed25519 ${tail.toString('base64')}`,
      `ssh-ed25519 ${data.slice(0, -4)}`,
      `command="sh" ${good}`,
      `${good}\n${ed25519()}`,
      rsa(1024),
      sshLine('ssh-dss', Buffer.alloc(20), Buffer.alloc(20)),
      sshLine('ssh-ed25519', Buffer.alloc(31)),
      sshLine('constructor', Buffer.alloc(32)),
      `ssh-ed25519 ${data}\0`,
      '-----BEGIN OPENSSH PRIVATE KEY-----',
    ]) {
      expect(parseSshKey(bad), bad).toBeUndefined()
    }
  })
})

describe('GPG keys', () => {
  test('are named by their fingerprint', () => {
    const { armored, fingerprint } = gpgKey(1)
    const keyId = fingerprint.slice(-16)
    expect(parseGpgKey(armored)).toEqual({ fingerprint, keyId, subkeys: [] })
    expect(parseGpgKey(armored.replaceAll('\n', '\r\n'))?.fingerprint).toBe(fingerprint)
  })
  test('that are broken, or private, are refused', () => {
    const { armored } = gpgKey(2)
    expect(parseGpgKey(armored.replace(/\n=.{4}/, '\n=AAAA'))).toBeUndefined()
    expect(parseGpgKey(armored.replaceAll('PUBLIC', 'PRIVATE'))).toBeUndefined()
    expect(parseGpgKey('nothing')).toBeUndefined()
  })
  const hasGpg = isThere('gpg', spawnSync('gpg', ['--version']).status === 0)
  test.runIf(hasGpg)('have the fingerprint that gpg shows', () => {
    const { armored, fingerprint } = gpgKey(3)
    const folder = newFolder()
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const args = ['--homedir', folder, '--show-keys', '--with-colons']
    const shown = execFileSync('gpg', args, { input: armored, stdio: 'pipe' })
    rmSync(folder, { recursive: true })
    expect(shown.toString().toLowerCase()).toContain(fingerprint)
  })
})

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { findUserForActor } from '../../access/authentication/sign-in-queries.ts'
import { addressSet } from '../../base/outbound/address.ts'
import type { Ctx } from '../../ctx.ts'
import { parseSshKey } from '../../identity/keys/parse-ssh-key.ts'
import { optionText, readCertificate, type SshCertificate } from './certificate.ts'

/** Somebody whom a trusted authority has certified. */
export interface CertifiedUser {
  readonly userId: number
  /** When the certificate is over. */
  readonly until: string
}

/** A certificate that is trusted, with whom it stands for. */
export interface TrustedCertificate {
  readonly identity: CertifiedUser
  readonly certificate: SshCertificate
}

const LATEST = '9999-12-31T23:59:59.000Z'

/**
 * Whom a certificate stands for: the one account that its principals name. Undefined for what no trusted authority signed,
 * what is not valid now, here or for anybody, and what demands something that this server does not know.
 */
export async function trustCertificate(
  ctx: Ctx,
  bytes: Buffer,
): Promise<TrustedCertificate | undefined> {
  const { sshTrustedCa: authorities, sshRevokedKeys: revocations } = ctx.config
  if (authorities === undefined) return undefined
  const certificate = readCertificate(bytes)
  if (!certificate || !isValidNow(ctx, certificate) || !mayBeUsedFrom(ctx.ip, certificate)) {
    return undefined
  }
  const trusted = linesOf(await readFile(authorities, 'utf8')).map(blobOf)
  if (!trusted.some((blob) => blob?.equals(certificate.authority))) return undefined
  if (revocations !== undefined) {
    const lines = linesOf(await readFile(revocations, 'utf8'))
    if (lines.some((line) => revokes(line, certificate))) return undefined
  }
  const userId = await userOf(ctx, certificate)
  return userId === undefined
    ? undefined
    : { identity: { userId, until: endOf(certificate) }, certificate }
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

function blobOf(line: string): Buffer | undefined {
  const key = parseSshKey(line)
  return key && Buffer.from(key.text.split(' ')[1] ?? '', 'base64')
}

function isValidNow(ctx: Ctx, { validAfter, validBefore }: SshCertificate): boolean {
  const now = BigInt(Math.floor(Date.parse(ctx.now()) / 1000))
  return validAfter <= now && now < validBefore
}

function endOf({ validBefore }: SshCertificate): string {
  const latest = BigInt(Date.parse(LATEST) / 1000)
  return validBefore >= latest ? LATEST : new Date(Number(validBefore) * 1000).toISOString()
}

/** Everything that is demanded must be known; of the known, only where it may be used from can be kept here. */
function mayBeUsedFrom(ip: string, { criticalOptions }: SshCertificate): boolean {
  for (const [name, value] of criticalOptions) {
    if (name !== 'source-address') return false
    const text = optionText(value)
    if (!text) return false
    try {
      if (!addressSet(text.split(','))(ip)) return false
    } catch {
      // What is no list of networks allows none.
      return false
    }
  }
  return true
}

function fingerprint(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
}

/** Whether a line takes a certificate back: in the words of ssh-keygen's lists, or a public key, which also ends what it signed. */
function revokes(line: string, { serial, id, key, authority }: SshCertificate): boolean {
  const [, kind = '', value = ''] = /^(serial|id|sha256):\s*(.+)$/i.exec(line) ?? []
  switch (kind.toLowerCase()) {
    case 'serial': {
      const [first, last] = value.split('-').map((one) => one.trim())
      if (!isNumber(first) || (last !== undefined && !isNumber(last))) return false
      return BigInt(first) <= serial && serial <= BigInt(last ?? first)
    }
    case 'id':
      return value === id
    case 'sha256':
      return [key, authority].some((one) => fingerprint(one) === value)
    default: {
      const blob = blobOf(line)
      return blob !== undefined && (blob.equals(key) || blob.equals(authority))
    }
  }
}

function isNumber(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,20}$/.test(text)
}

/** The one user whom the principals name: everybody signs in as `git`, so that a second would leave open who it is. */
async function userOf(ctx: Ctx, { principals }: SshCertificate): Promise<number | undefined> {
  const found = new Set<number>()
  for (const name of principals) {
    // A number would be read as an id.
    const row = /^\d+$/.test(name) ? undefined : await findUserForActor(ctx.db, name)
    if (row?.kind === 'human') found.add(row.id)
  }
  const [only, second] = [...found]
  return second === undefined ? only : undefined
}

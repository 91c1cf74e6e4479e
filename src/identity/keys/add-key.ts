import { userOf } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import type { Instant } from '../../base/clock.ts'
import { dayOf, later } from '../../base/clock.ts'
import { runEffects } from '../../base/effects.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { instant, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { taken, uniquely } from '../../store/unique.ts'
import { nameFaults } from '../users/names.ts'
import { parseSshKey, type SshKey } from './parse-ssh-key.ts'
import { deleteKeyRow, insertKey, type SshKeyRow } from './queries.ts'

export interface KeyInput {
  readonly title: string
  readonly key: string
  readonly expires_at?: Instant | null | undefined
  readonly usage_type?: SshKeyRow['usage_type'] | undefined
}

export const keyBody = {
  title: text({ max: 10_000 }),
  key: text({ max: 100_000 }),
  expires_at: instant()
    .or(text({ max: 0 }).transform(() => null))
    .nullish(),
}

/** The parsed key of good input, or 400 with what is wrong by field (docs/contract/D §1.1). */
export function readKey(ctx: Ctx, input: KeyInput): SshKey {
  const key = parseSshKey(input.key)
  const faults = {
    ...(key ? {} : { key: ['is invalid'], fingerprint_sha256: ['cannot be generated'] }),
    ...(key ? restrictionFaults(ctx, key) : {}),
    ...titleFaults(input.title),
    ...expiryFaults(ctx, input.expires_at),
  }
  if (!key || Object.keys(faults).length > 0) throw invalid(faults)
  return key
}

const RESTRICTIONS = {
  'ssh-rsa': ['rsa_key_restriction', 'RSA'],
  'ssh-dss': ['dsa_key_restriction', 'DSA'],
  'ssh-ed25519': ['ed25519_key_restriction', 'ED25519'],
  'sk-ssh-ed25519@openssh.com': ['ed25519_sk_key_restriction', 'ED25519_SK'],
  'sk-ecdsa-sha2-nistp256@openssh.com': ['ecdsa_sk_key_restriction', 'ECDSA_SK'],
} as const

/** What administrators want of keys: the least bits, or -1 for none of a kind. */
function restrictionFaults(ctx: Ctx, key: SshKey): Record<string, string[]> {
  const [setting, name] =
    RESTRICTIONS[key.type as keyof typeof RESTRICTIONS] ??
    (['ecdsa_key_restriction', 'ECDSA'] as const)
  const least = ctx.settings.get(setting)
  if (least === -1) return { key: [`type is forbidden. ${name} keys are not allowed`] }
  return key.bits < least ? { key: [`must be at least ${least} bits`] } : {}
}

export function titleFaults(title: string): Record<string, string[]> {
  const faults = nameFaults(title)
  return faults.length > 0 ? { title: faults } : {}
}

function expiryFaults(ctx: Ctx, expiresAt: Instant | null | undefined): Record<string, string[]> {
  const days = ctx.settings.get('max_ssh_key_lifetime')
  const last = days === null ? undefined : dayOf(later(ctx.now(), days * 86_400_000))
  if (last !== undefined && (!expiresAt || dayOf(expiresAt) > last)) {
    return { key: [`has greater than the maximum allowed expiration date (${last})`] }
  }
  if (!expiresAt || expiresAt > ctx.now()) return {}
  return { expires_at: ['must be in the future'] }
}

/** Adds a key of a user; a key that anybody has already is refused, whoever that is (docs/faults 33). */
export async function addUserKey(ctx: Ctx, userId: number, input: KeyInput): Promise<SshKeyRow> {
  const key = readKey(ctx, input)
  return inTransaction(ctx, async (inner) => {
    const row = await saveKey(inner, key, input, { user_id: userId })
    await audit(inner, {
      entity: { type: 'User', id: userId },
      action: 'ssh_key_created',
      details: { key_id: row.id, title: row.title, fingerprint: row.fingerprint_sha256 },
    })
    await runEffects(inner, inner.effects.keyAdded, row)
    return row
  })
}

/** Writes a key for a user or, without one, as a deploy key. */
export function saveKey(
  ctx: Ctx,
  key: SshKey,
  input: KeyInput,
  whose: { readonly user_id: number } | { readonly deploy: true; readonly public?: boolean },
): Promise<SshKeyRow> {
  return uniquely({ 'ssh_keys.fingerprint_sha256': () => taken('fingerprint_sha256') }, () =>
    insertKey(ctx.db, {
      ...whose,
      title: input.title,
      key: key.text,
      fingerprint_sha256: key.fingerprintSha256,
      fingerprint_md5: key.fingerprintMd5,
      usage_type: input.usage_type ?? 'auth_and_signing',
      expires_at: input.expires_at ?? null,
      created_by_id: userOf(ctx.actor)?.id ?? null,
      created_at: ctx.now(),
    }),
  )
}

/** Removes a key of a user. */
export async function removeUserKey(ctx: Ctx, row: SshKeyRow): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await deleteKeyRow(inner.db, row.id)
    if (row.user_id === null) return
    await runEffects(inner, inner.effects.keyRemoved, row)
    await audit(inner, {
      entity: { type: 'User', id: row.user_id },
      action: 'ssh_key_deleted',
      details: { key_id: row.id, title: row.title, fingerprint: row.fingerprint_sha256 },
    })
  })
}

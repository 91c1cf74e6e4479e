import type { Instant } from '../base/clock.ts'
import { redactText } from '../base/redact.ts'
import type { Db } from '../store/schema.ts'
import { type Actor, userOf } from './actor.ts'
import { insertAuditEvent } from './audit-queries.ts'
import type { SourceRef } from './sources.ts'

/** Something that somebody did and that others may have to find again. */
export interface Audited {
  /** What it was done to; the lists of a group or project show what was done to it. */
  readonly entity: { readonly type: 'User' | 'Group' | 'Project' | 'Instance'; readonly id: number }
  /** `token_created`, `member_removed` and so on. */
  readonly action: string
  /** Short facts; never a secret. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}

/** A project or group as what something was done to. */
export function sourceEntity({ type, id }: SourceRef): Audited['entity'] {
  return { type: type === 'project' ? 'Project' : 'Group', id }
}

interface AuditCtx {
  readonly db: Db
  readonly actor: Actor
  readonly ip: string
  now(): Instant
}

/** Writes to the audit trail, in the transaction of what was done. */
export async function audit(ctx: AuditCtx, event: Audited): Promise<void> {
  const by = ctx.actor.kind === 'user' && ctx.actor.sudoBy ? ctx.actor.sudoBy : userOf(ctx.actor)
  const details = Object.entries(event.details ?? {}).map(([key, value]) => [
    key,
    typeof value === 'string' ? redactText(value) : value,
  ])
  await insertAuditEvent(ctx.db, {
    author_id: by?.id ?? null,
    entity_type: event.entity.type,
    entity_id: event.entity.id,
    action: event.action,
    details: JSON.stringify({
      ...Object.fromEntries(details),
      author_name: by?.name ?? nameOf(ctx.actor),
    }),
    ip: ctx.ip || null,
    created_at: ctx.now(),
  })
}

function nameOf(actor: Actor): string {
  if (actor.kind === 'deploy_token') return actor.username
  if (actor.kind === 'deploy_key') return `deploy key ${actor.title}`
  return actor.kind === 'system' ? 'System' : 'An unauthenticated user'
}

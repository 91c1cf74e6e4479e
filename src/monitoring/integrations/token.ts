import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Ctx } from '../../ctx.ts'
import type { IntegrationRow } from './queries.ts'

const PURPOSE = 'alert_integrations.token'

/** A new authorization key, sealed. */
export function newToken(ctx: Pick<Ctx, 'vault'>): string {
  return ctx.vault.seal(randomBytes(16).toString('hex'), PURPOSE)
}

export function openToken(
  ctx: Pick<Ctx, 'vault'>,
  row: Pick<IntegrationRow, 'sealed_token'>,
): string {
  return ctx.vault.open(row.sealed_token, PURPOSE)
}

/** Whether a key is the integration's, in the same time whatever is wrong with it. */
export function isToken(
  ctx: Pick<Ctx, 'vault'>,
  row: Pick<IntegrationRow, 'sealed_token'>,
  given: string,
): boolean {
  return timingSafeEqual(digest(openToken(ctx, row)), digest(given))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

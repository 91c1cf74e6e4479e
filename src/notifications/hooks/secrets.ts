import type { Ctx } from '../../ctx.ts'
import type { HookRow } from './queries.ts'
import type { Pair } from './template.ts'

/** What a hook keeps sealed. */
export interface HookSecrets {
  readonly url: string
  readonly token: string | null
  readonly headers: readonly Pair[]
  readonly variables: readonly Pair[]
}

export function sealUrl(ctx: Pick<Ctx, 'vault'>, url: string): string {
  return ctx.vault.seal(url, 'webhooks.url')
}

export function sealToken(ctx: Pick<Ctx, 'vault'>, token: string | null): string | null {
  return token === null || token === '' ? null : ctx.vault.seal(token, 'webhooks.token')
}

export function sealPairs(
  ctx: Pick<Ctx, 'vault'>,
  kind: 'headers' | 'variables',
  pairs: readonly Pair[],
): string | null {
  return pairs.length === 0 ? null : ctx.vault.seal(JSON.stringify(pairs), `webhooks.${kind}`)
}

export function openSecrets(ctx: Pick<Ctx, 'vault'>, row: HookRow): HookSecrets {
  const pairs = (kind: 'headers' | 'variables', sealed: string | null) =>
    sealed === null ? [] : (JSON.parse(ctx.vault.open(sealed, `webhooks.${kind}`)) as Pair[]) // written by sealPairs
  return {
    url: ctx.vault.open(row.sealed_url, 'webhooks.url'),
    token: row.sealed_token === null ? null : ctx.vault.open(row.sealed_token, 'webhooks.token'),
    headers: pairs('headers', row.sealed_headers),
    variables: pairs('variables', row.sealed_variables),
  }
}

import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { readForwarding } from '../settings/settings.ts'

/** The formats whose unknown packages may be looked for at a public registry. */
export type ForwardedType = 'npm' | 'pypi' | 'maven'

/**
 * What a client is told that asks for a package that is not here: where the public registry has it, if administrators and
 * the owners of the groups above want that (docs/contract/C-resolved §5), else the refusal.
 */
export async function forwardOr(
  ctx: Ctx,
  type: ForwardedType,
  ask: { readonly namespaceId?: number | undefined; readonly path: string },
  refusal: Problem,
): Promise<Problem> {
  return (await isForwarded(ctx, type, ask.namespaceId)) ? elsewhere(ctx, type, ask.path) : refusal
}

/** Whether requests for unknown packages of a format leave the server. */
export async function isForwarded(
  ctx: Ctx,
  type: ForwardedType,
  namespaceId: number | undefined,
): Promise<boolean> {
  const ofInstance = ctx.settings.get(`${type}_package_requests_forwarding`)
  if (namespaceId === undefined || ctx.settings.get(`lock_${type}_package_requests_forwarding`)) {
    return ofInstance
  }
  return (await readForwarding(ctx.db, namespaceId, type)) ?? ofInstance
}

/** 302, or 307 where the method must stay: the client goes on there by itself, and sends no token of ours along. */
export function elsewhere(ctx: Ctx, type: ForwardedType, path: string, status = 302): Problem {
  const roots = { npm: ctx.config.npmUrl, pypi: ctx.config.pypiUrl, maven: ctx.config.mavenUrl }
  const root = roots[type].replace(/\/+$/, '')
  const message = `This package is looked for at ${root}`
  return new Problem('moved', status, { message }, { headers: { Location: `${root}/${path}` } })
}

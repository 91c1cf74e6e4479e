import { userOf } from '../../access/actor.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findLicenseTemplate } from './catalog.ts'
import type { LicenseTemplate } from './entity.ts'

/** A licence with the names that were asked for; without a full name the caller's. */
export function licenseFor(
  ctx: Ctx,
  key: string,
  asked: { readonly project?: string | undefined; readonly fullname?: string | undefined },
): LicenseTemplate {
  const names = {
    year: ctx.now().slice(0, 4),
    fullname: asked.fullname ?? userOf(ctx.actor)?.name,
    project: asked.project,
  }
  return existing(findLicenseTemplate(key, names), 'License')
}

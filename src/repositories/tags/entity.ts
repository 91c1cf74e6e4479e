import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { TagRef } from '../../git/refs/tags.ts'
import { commitEntity, presentCommit } from '../commits/entity.ts'
import type { TagRelease } from './queries.ts'

export const tagEntity = z.strictObject({
  name: z.string(),
  message: z.string().nullable(),
  target: z.string(),
  commit: commitEntity.nullable(),
  release: z.strictObject({ tag_name: z.string(), description: z.string().nullable() }).nullable(),
  protected: z.boolean(),
  created_at: z.string().nullable(),
})

export function presentTag(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'full_path'>,
  ref: TagRef,
  more: { readonly isProtected: boolean; readonly release: TagRelease | undefined },
): z.input<typeof tagEntity> {
  return {
    name: ref.name,
    message: ref.tag ? ref.tag.message.replace(/\n+$/, '') : null,
    target: ref.id,
    commit: ref.commit ? presentCommit(ctx, project, ref.commit) : null,
    release: more.release ?? null,
    protected: more.isProtected,
    created_at: ref.tag?.tagger?.date ?? null,
  }
}

import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import type { Project } from '../../access/subjects.ts'
import { existing, forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findRef } from '../../git/refs/refs.ts'
import { id, text } from '../../http/params.ts'
import { passesTagProtection } from '../../repositories/refs/branch-state.ts'
import { findLink, findRelease, type ReleaseRow } from './queries.ts'

const tag_name = text({ max: 1024 })

async function getRelease(ctx: Ctx, project: Project, tag: string): Promise<ReleaseRow> {
  return existing(await findRelease(ctx.db, project.id, tag))
}

/** The release of the tag `:tag_name`. */
export const onRelease = projectRecord('read_releases', {
  params: { tag_name },
  find: async ({ ctx, project, params }) => ({
    release: await getRelease(ctx, project, params.tag_name),
  }),
})

/** A link of the release of the tag `:tag_name`. */
export const onReleaseLink = projectRecord('read_releases', {
  params: { tag_name, link_id: id() },
  async find({ ctx, project, params }) {
    const release = await getRelease(ctx, project, params.tag_name)
    const link = existing(await findLink(ctx.db, release.id, params.link_id))
    return { release, link }
  },
})

interface Place {
  readonly ctx: Ctx
  readonly project: Project
}

/** What is collected as evidence holds code. */
export const readsCode: Condition<Place> = condition('read_code', ({ ctx, project }) =>
  mayOr(ctx, mayInProject(ctx.actor, project, 'read_code')),
)

/** A protected tag is released by those who may make it. */
export const releasesTag: Condition<Place & { readonly release: ReleaseRow }> = condition(
  'may create the tag, where it is protected',
  async ({ ctx, project, release }) =>
    (await passesTagProtection(ctx, project, release.tag)) || forbidden(),
)

/** The same for a new release, whose tag may have to be made first. */
export const releasesNewTag: Condition<Place & { readonly body: { readonly tag_name: string } }> =
  condition(
    'may create the tag, where it is protected; create_tag for one that is not there',
    async ({ ctx, project, body: { tag_name: tag } }) => {
      if (tag.trim() === '') return true
      if (!(await passesTagProtection(ctx, project, tag))) return forbidden()
      if (mayInProject(ctx.actor, project, 'create_tag')) return true
      const found = await findRef(ctx.git.open(project.id), `refs/tags/${tag}`)
      return found !== undefined || forbidden()
    },
  )

import { eitherRecord } from '../../access/records.ts'
import { existing, notFound } from '../../base/problem.ts'
import { id } from '../../http/params.ts'
import { findBadgeOf } from './queries.ts'

const admin = { projects: 'admin_project', groups: 'admin_badges' } as const

/** A badge that is shown at the project or group: at a project, those of the groups above it too. */
export const onShownBadge = eitherRecord('read_badges', {
  params: { badge_id: id() },
  async find({ ctx, source, params }) {
    const badge = existing(await findBadgeOf(ctx.db, source, params.badge_id), 'Badge')
    return { badge }
  },
})

/** A badge of this very project or group, for those who may change it. */
export const onOwnBadge = eitherRecord(admin, {
  params: { badge_id: id() },
  async find({ ctx, source, params }) {
    const badge = existing(await findBadgeOf(ctx.db, source, params.badge_id), 'Badge')
    const owner = source.type === 'project' ? badge.project_id : badge.group_id
    if (owner !== source.id) throw notFound('Badge')
    return { badge }
  },
  updatedAt: ({ badge }) => badge.updated_at,
})

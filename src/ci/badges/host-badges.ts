import { type Access, findVisibleProject, type Project } from '../../access/subjects.ts'
import { hidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { flag, integer, oneOf, text } from '../../http/params.ts'
import { mayReadBuilds } from '../pipelines/access.ts'
import { findCoverage } from '../pipelines/coverage-queries.ts'
import { findNewestOfRef } from '../pipelines/queries.ts'
import { BADGE_STYLES, drawCoverageBadge, drawPipelineBadge } from './badge.ts'

/** The project whose badges the caller may see: 404 for all others, as pages do. */
function onBadges(): Access<{ readonly project: Project }, 'id'> {
  return {
    kind: 'custom',
    needs: 'read_public_builds',
    subjectFirst: true,
    before() {},
    async find({ ctx, path }) {
      const project = await findVisibleProject(ctx, path.id ?? '')
      if (!project || !mayReadBuilds(ctx, project)) throw hidden()
      return { project }
    },
  }
}

const percentage = (fallback: number) => integer({ min: 0, max: 100 }).default(fallback)

export const hostBadges = (['pipeline', 'coverage'] as const).map((kind) =>
  endpoint({
    method: 'GET',
    host: true,
    session: true,
    path: `/*id/badges/*ref_name/${kind}.svg`,
    otherPath: `/*id/-/badges/*ref_name/${kind}.svg`,
    summary: 'Show how the newest pipeline of a branch or tag went, or its coverage, as a picture',
    tags: ['badges'],
    access: onBadges(),
    params: { ref_name: text({ max: 1024 }) },
    query: {
      style: oneOf(BADGE_STYLES).default('flat'),
      key_text: text({ max: 64 }).optional(),
      ignore_skipped: flag().default(false),
      job: text({ max: 255 }).optional(),
      min_good: percentage(95),
      min_acceptable: percentage(90),
      min_medium: percentage(75),
    },
    response: bytes('image/svg+xml'),
    async handler({ ctx, project, params, query }) {
      const look = { style: query.style, label: query.key_text ?? kind }
      const bounds = {
        good: query.min_good,
        acceptable: query.min_acceptable,
        medium: query.min_medium,
      }
      const at = { project, ref: params.ref_name }
      const body =
        kind === 'pipeline'
          ? await drawPipelineBadge(await newestStatus(ctx, at, query.ignore_skipped), look)
          : await drawCoverageBadge(await newestCoverage(ctx, at, query.job), bounds, look)
      return { body, type: 'image/svg+xml', headers: pictureHeaders }
    },
  }),
)

/** Proxies of other sites ask anew each time; a script in a label would not run. */
const pictureHeaders = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
}

interface BadgePlace {
  readonly project: Project
  readonly ref: string
}

async function newestStatus(ctx: Ctx, { project, ref }: BadgePlace, ignoreSkipped: boolean) {
  return (await findNewestOfRef(ctx.db, project.id, ref, { ignoreSkipped }))?.status
}

async function newestCoverage(ctx: Ctx, { project, ref }: BadgePlace, job: string | undefined) {
  const pipeline = await findNewestOfRef(ctx.db, project.id, ref, { statuses: ['success'] })
  return pipeline ? await findCoverage(ctx.db, pipeline.id, job) : null
}

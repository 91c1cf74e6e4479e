import { assertMayInProject, onProject, type Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { evidenceEntity } from './entity.ts'
import { collectEvidence } from './evidence.ts'
import { findEvidence } from './evidence-queries.ts'
import { findRelease, type ReleaseRow } from './queries.ts'

const tags = ['releases']
const path = '/projects/:id/releases/:tag_name/evidence'
const params = { tag_name: text({ max: 1024 }) }

async function getRelease(ctx: Ctx, project: Project, tag: string): Promise<ReleaseRow> {
  const row = await findRelease(ctx.db, project.id, tag)
  if (!row) throw notFound()
  return row
}

export const postReleaseEvidence = endpoint({
  method: 'POST',
  path,
  summary: 'Write down what a release and its milestones say now, as evidence',
  tags,
  access: onProject('admin_release'),
  jobToken: true,
  params,
  response: evidenceEntity,
  status: 201,
  async handler({ ctx, project, params: { tag_name } }) {
    return await collectEvidence(ctx, project, await getRelease(ctx, project, tag_name))
  },
})

export const getReleaseEvidence = endpoint({
  method: 'GET',
  path: `${path}/:evidence_id`,
  summary: 'Read evidence of a release, byte for byte what its hash was taken of',
  tags,
  access: onProject('read_releases'),
  jobToken: true,
  params: { ...params, evidence_id: id() },
  response: bytes('application/json'),
  async handler({ ctx, project, params: { tag_name, evidence_id } }) {
    assertMayInProject(ctx, project, 'read_code')
    const release = await getRelease(ctx, project, tag_name)
    const row = await findEvidence(ctx.db, release.id, evidence_id)
    if (!row) throw notFound('Evidence')
    return { body: row.summary, type: 'application/json' }
  },
})

import { existing } from '../../base/problem.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { id } from '../../http/params.ts'
import { onRelease, readsCode } from './access.ts'
import { evidenceEntity } from './entity.ts'
import { collectEvidence } from './evidence.ts'
import { findEvidence } from './evidence-queries.ts'

const path = '/projects/:id/releases/:tag_name/evidence'

export const postReleaseEvidence = endpoint({
  method: 'POST',
  path,
  summary: 'Write down what a release and its milestones say now, as evidence',
  access: onRelease('admin_release'),
  jobToken: true,
  response: evidenceEntity,
  handler: ({ ctx, project, release }) => collectEvidence(ctx, project, release),
})

export const getReleaseEvidence = endpoint({
  method: 'GET',
  path: `${path}/:evidence_id`,
  summary: 'Read evidence of a release, byte for byte what its hash was taken of',
  access: onRelease(),
  jobToken: true,
  params: { evidence_id: id() },
  conditions: [readsCode],
  response: bytes('application/json'),
  async handler({ ctx, release, params: { evidence_id } }) {
    const row = existing(await findEvidence(ctx.db, release.id, evidence_id), 'Evidence')
    return { body: row.summary, type: 'application/json' }
  },
})

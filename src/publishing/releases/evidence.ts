import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { RowOf } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { evidenceEntity } from './entity.ts'
import {
  insertEvidence,
  listIssuesForEvidence,
  listMilestonesForEvidence,
} from './evidence-queries.ts'
import type { ReleaseRow } from './queries.ts'

type Evidence = z.input<typeof evidenceEntity>

export function presentEvidence(
  ctx: Pick<Ctx, 'config'>,
  project: Project,
  tag: string,
  row: Pick<RowOf<'release_evidences'>, 'id' | 'sha' | 'collected_at'>,
): Evidence {
  const release = `${ctx.config.externalUrl}/api/v4/projects/${project.id}/releases`
  return {
    sha: row.sha,
    filepath: `${release}/${encodeURIComponent(tag)}/evidence/${row.id}`,
    collected_at: row.collected_at,
  }
}

/**
 * Writes down what a release and its milestones say now, with the hash of that text (docs/contract/D §1.6). Confidential issues
 * stay out of it: it is read by whoever reads the release.
 */
export async function collectEvidence(
  ctx: Ctx,
  project: Project,
  release: ReleaseRow,
): Promise<Evidence> {
  const row = await inTransaction(ctx, async (ctx) => {
    const summary = JSON.stringify({ release: await summaryOf(ctx, project, release) })
    return await insertEvidence(ctx.db, {
      release_id: release.id,
      summary,
      sha: createHash('sha256').update(summary).digest('hex'),
      collected_at: ctx.now(),
    })
  })
  return presentEvidence(ctx, project, release.tag, row)
}

async function summaryOf(ctx: Ctx, project: Project, release: ReleaseRow) {
  const milestones = await listMilestonesForEvidence(ctx.db, release.id)
  const ids = milestones.map((milestone) => milestone.id)
  const issues = await listIssuesForEvidence(ctx.db, project.id, ids)
  return {
    id: release.id,
    tag_name: release.tag,
    sha: release.sha,
    name: release.name,
    description: release.description,
    created_at: release.created_at,
    released_at: release.released_at,
    project: {
      id: project.id,
      name: project.name,
      description: project.description,
      created_at: project.created_at,
    },
    milestones: milestones.map((milestone) => ({
      ...milestone,
      issues: issues
        .filter((issue) => issue.milestone_id === milestone.id)
        .map(({ milestone_id: _, confidential, ...issue }) => ({
          ...issue,
          confidential: confidential === 1,
        })),
    })),
  }
}

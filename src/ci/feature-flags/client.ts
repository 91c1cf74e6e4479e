import { randomBytes, timingSafeEqual } from 'node:crypto'
import { audit } from '../../access/audit.ts'
import { featureLevel } from '../../access/features.ts'
import { findProjectById, findProjectByPath, type ProjectRow } from '../../access/find-queries.ts'
import type { Access, SubjectRequest } from '../../access/subjects.ts'
import { digestOf } from '../../access/token-use.ts'
import { unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type FlagClientRow, findFlagClient, replaceFlagClient } from './queries.ts'

const PURPOSE = 'feature_flag_clients.token'

/** What a program is configured with to read the flags of a project. */
export interface FlagClient {
  readonly api_url: string
  readonly instance_id: string
}

export function presentFlagClient(
  ctx: Pick<Ctx, 'config' | 'vault'>,
  row: FlagClientRow,
): FlagClient {
  return {
    api_url: `${ctx.config.externalUrl}/api/v4/feature_flags/unleash/${row.project_id}`,
    instance_id: ctx.vault.open(row.sealed_token, PURPOSE),
  }
}

/** Gives a project a new instance id; programs with the old one are refused from now on. */
export async function resetFlagClient(ctx: Ctx, projectId: number): Promise<FlagClientRow> {
  const token = ctx.config.vendor.tokenPrefix('flags') + randomBytes(24).toString('base64url')
  return await inTransaction(ctx, async (ctx) => {
    const row = await replaceFlagClient(ctx.db, {
      project_id: projectId,
      sealed_token: ctx.vault.seal(token, PURPOSE),
      token_digest: digestOf(token),
      created_at: ctx.now(),
    })
    await audit(ctx, {
      entity: { type: 'Project', id: projectId },
      action: 'feature_flags_client_reset',
      details: {},
    })
    return row
  })
}

/** A program that shows the instance id of a project; 401 for all others, so that nobody learns which projects there are. */
export function flagClient(): Access<{ readonly projectId: number }, 'project_id'> {
  return {
    kind: 'custom',
    needs: 'the instance id of the feature flags',
    subjectFirst: true,
    before() {},
    async find(request) {
      const project = await projectAt(request.ctx, request.path.project_id ?? '')
      const given = one(request, 'unleash-instanceid', 'instance_id')
      const client = project && (await findFlagClient(request.ctx.db, project.id))
      const isTheirs = client && timingSafeEqual(client.token_digest, digestOf(given))
      if (!project || !isTheirs || !hasFlags(project)) throw unauthorized()
      return { projectId: project.id }
    },
  }
}

async function projectAt(ctx: Ctx, idOrPath: string): Promise<ProjectRow | undefined> {
  return /^\d+$/.test(idOrPath)
    ? await findProjectById(ctx.db, Number(idOrPath))
    : await findProjectByPath(ctx.db, idOrPath)
}

function hasFlags(project: ProjectRow): boolean {
  const settings = JSON.parse(project.settings) as Record<string, unknown> // written by us
  return featureLevel(settings, 'feature_flags') !== 'disabled'
}

function one({ headers, query }: SubjectRequest, header: string, parameter: string): string {
  const sent = headers[header] ?? query[parameter]
  return typeof sent === 'string' ? sent : ''
}

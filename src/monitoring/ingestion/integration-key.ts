import { featureLevel } from '../../access/features.ts'
import { findProjectByPath } from '../../access/find-queries.ts'
import type { Access, Project, SubjectRequest } from '../../access/subjects.ts'
import { withProjectRole } from '../../access/subjects.ts'
import { badRequest, forbidden, hidden, unauthorized, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { basicOf } from '../../http/credentials/credentials.ts'
import { listAllIntegrations, type ReceivingIntegration } from '../integrations/queries.ts'
import { isToken } from '../integrations/token.ts'
import { countDelivery } from './delivery-rate.ts'

/** Largest delivery (docs/contract/C-resolved §1.2). */
export const MAX_PAYLOAD = 1024 * 1024

/** Which integrations a URL may mean: the one of its identifier, or all of a type at the fixed old URLs. */
export type Addressed = 'identifier' | 'http' | 'prometheus'

interface Admitted {
  readonly project: Project
  readonly integration: ReceivingIntegration
}

/**
 * A monitoring tool that shows the key of an integration (docs/contract/C-resolved §1.2). The checks have an order:
 * project, size as far as it is announced, format where the address says it, integration, key, rate; the body is read only
 * after all of them, and of a sender who is refused no more than its first bytes.
 */
export function integrationKey(addressed: Addressed): Access<Admitted, 'project_path'> {
  return {
    kind: 'custom',
    needs: 'the key of an alert integration',
    subjectFirst: true,
    before() {},
    async find(request) {
      const { ctx } = request
      const project = await projectAt(ctx, request.path.project_path ?? '')
      if (Number(request.headers['content-length'] ?? 0) > MAX_PAYLOAD) throw tooLargePayload()
      const known = await listAllIntegrations(ctx.db, project.id)
      const meant = known.filter((one) => one.active === 1 && isMeant(one, addressed, request))
      if (meant.length === 0) throw await noIntegration(addressed, request)
      const integration = await keyed(ctx, meant, keyOf(request))
      if (!integration) throw await noKey(addressed, request)
      if (project.archived) throw forbidden()
      countDelivery(ctx, project.id)
      return { project, integration }
    },
  }
}

/** 400, as the reference platform answers and not 413. */
export function tooLargePayload() {
  return badRequest('The payload is too large')
}

async function projectAt(ctx: Ctx, path: string): Promise<Project> {
  const row = await findProjectByPath(ctx.db, path)
  if (!row) throw hidden()
  const project = await withProjectRole(ctx, row)
  if (featureLevel(project.settings, 'monitor') === 'disabled') throw hidden()
  return project
}

function isMeant(
  row: ReceivingIntegration,
  addressed: Addressed,
  { path }: SubjectRequest,
): boolean {
  return addressed === 'identifier'
    ? row.endpoint_identifier === path.identifier
    : row.type === addressed
}

/** Every candidate is looked at, so that the time reveals nothing. */
async function keyed(ctx: Ctx, rows: readonly ReceivingIntegration[], given: string | undefined) {
  if (given === undefined) return undefined
  const fitting = rows.filter((row) => isToken(ctx, row, given))
  return fitting[0]
}

/** `Authorization: Bearer`, or Basic with the key as password and any user. */
function keyOf({ headers }: SubjectRequest): string | undefined {
  const header = headers.authorization
  const text = typeof header === 'string' ? header : header?.[0]
  const bearer = /^bearer\s+(\S+)\s*$/i.exec(text ?? '')?.[1]
  return bearer ?? (basicOf(text)?.password || undefined)
}

/** Without an active integration: 403, and 401 for a delivery in the metrics format as far as its first bytes show. */
async function noIntegration(addressed: Addressed, request: SubjectRequest) {
  if (addressed === 'prometheus') return await noKey(addressed, request)
  return looksLikeMetrics(await request.peek()) ? unauthorized() : forbidden()
}

/** 401; 422 for a whole delivery in another format than that of its address. */
async function noKey(addressed: Addressed, request: SubjectRequest) {
  if (addressed !== 'prometheus') return unauthorized()
  const head = await request.peek()
  const isWhole = head.length > 0 && head.length === Number(request.headers['content-length'])
  return isWhole && !looksLikeMetrics(head)
    ? unprocessable('422 Unprocessable Entity')
    : unauthorized()
}

function looksLikeMetrics(head: Buffer): boolean {
  const text = head.toString('latin1')
  return ['"groupKey"', '"alerts"', '"receiver"', '"version"'].every((key) => text.includes(key))
}

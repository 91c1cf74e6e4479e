import type { Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { nextIid } from '../../store/iid.ts'
import { inTransaction } from '../../store/transaction.ts'
import { addAlert, addEvents, markRecovered } from '../alerts/arrivals.ts'
import { listOpenAlerts } from '../alerts/queries.ts'
import { placeOf, severities } from '../alerts/words.ts'
import { type FollowUp, followLater } from '../incidents/follow-ups.ts'
import { findIncidentSettings } from '../incidents/settings.ts'
import type { ReceivingIntegration } from '../integrations/queries.ts'
import type { AlertInput, Payload } from './alert-input.ts'
import { FINGERPRINTING, readGeneric } from './generic.ts'
import type { FieldMapping } from './mapping.ts'
import { isMetrics, readMetrics } from './metrics.ts'

/** What the answer to a sender says of an alert. */
export interface Accepted {
  readonly iid: number
  readonly title: string
}

/**
 * Takes a delivery in (docs/contract/C-resolved §1.3, §1.4): counts, opens and resolves alerts, and notes what is to
 * follow, in one transaction. Whoever is answered finds all of it after a crash.
 */
export async function ingestAlerts(
  ctx: Ctx,
  project: Project,
  integration: ReceivingIntegration,
  payload: Payload,
): Promise<Accepted[]> {
  // Written by us in this shape.
  const all = JSON.parse(integration.payload_attribute_mappings) as FieldMapping[]
  const mappings = integration.active === 1 ? all : []
  if (isMetrics(payload)) {
    const inputs = readMetrics(payload, mappings)
    return inputs.length === 0 ? [] : await inTransaction(ctx, (ctx) => take(ctx, project, inputs))
  }
  const fingerprints = ctx.settings.offers(FINGERPRINTING)
  const input = readGeneric(payload, mappings, { now: ctx.now(), fingerprints })
  const accepted = await inTransaction(ctx, (ctx) => take(ctx, project, [input]))
  if (accepted.length === 0) throw badRequest('There is no open alert that could have recovered')
  return accepted
}

interface Open extends Accepted {
  readonly id: number
  readonly hasIncident: boolean
}

/** What one delivery has done so far. */
interface Delivery {
  readonly projectId: number
  readonly opensIncidents: boolean
  /** By fingerprint. */
  readonly open: Map<string, Open>
  /** Further events of known alerts, by id. */
  readonly events: Map<number, number>
  readonly follow: FollowUp[]
}

/** The alerts of one delivery, in their order; a recovery without an open alert is passed over. */
async function take(
  ctx: Ctx,
  project: Project,
  inputs: readonly AlertInput[],
): Promise<Accepted[]> {
  const { create_issue: opensIncidents } = await findIncidentSettings(ctx.db, project.id)
  const open = await openByFingerprint(ctx, project.id, inputs)
  const delivery = { projectId: project.id, opensIncidents, open, events: new Map(), follow: [] }
  const accepted = new Map<number, Accepted>()
  for (const input of inputs) {
    const alert = await takeOne(ctx, delivery, input)
    if (alert) accepted.set(alert.iid, { iid: alert.iid, title: alert.title })
  }
  await addEvents(ctx, delivery.events)
  await followLater(ctx, project.id, delivery.follow)
  return [...accepted.values()]
}

async function takeOne(
  ctx: Ctx,
  delivery: Delivery,
  input: AlertInput,
): Promise<Accepted | undefined> {
  const known = input.fingerprint === null ? undefined : delivery.open.get(input.fingerprint)
  if (input.recovered) {
    if (known) await recover(ctx, delivery, known, input)
  } else if (known) repeat(delivery, known)
  else return await openAlert(ctx, delivery, input)
  return known
}

function repeat({ events, opensIncidents, follow }: Delivery, known: Open): void {
  events.set(known.id, (events.get(known.id) ?? 0) + 1)
  if (opensIncidents && !known.hasIncident) follow.push({ alertId: known.id, action: 'repeated' })
}

async function openByFingerprint(ctx: Ctx, projectId: number, inputs: readonly AlertInput[]) {
  const fingerprints = inputs.flatMap((input) => input.fingerprint ?? [])
  const rows =
    fingerprints.length === 0 ? [] : await listOpenAlerts(ctx.db, projectId, fingerprints)
  return new Map<string, Open>(
    rows.map((row) => [row.fingerprint ?? '', { ...row, hasIncident: row.issue_id !== null }]),
  )
}

async function openAlert(ctx: Ctx, delivery: Delivery, input: AlertInput): Promise<Open> {
  const now = ctx.now()
  const iid = await nextIid(ctx.db, delivery.projectId, 'alert')
  const { payload, severity, hosts, recovered: _, ...values } = input
  const row = {
    ...values,
    iid,
    project_id: delivery.projectId,
    severity: placeOf(severities, severity),
    hosts: JSON.stringify(hosts),
    created_at: now,
    updated_at: now,
  }
  const id = await addAlert(ctx, row, payload)
  const alert = { id, iid, title: input.title, hasIncident: false }
  if (input.fingerprint !== null) delivery.open.set(input.fingerprint, alert)
  delivery.follow.push({ alertId: id, action: 'opened' })
  return alert
}

async function recover(
  ctx: Ctx,
  delivery: Delivery,
  known: Open,
  input: AlertInput,
): Promise<void> {
  await markRecovered(ctx, known.id, input.ended_at ?? ctx.now())
  delivery.open.delete(input.fingerprint ?? '')
  delivery.follow.push({ alertId: known.id, action: 'recovered' })
}

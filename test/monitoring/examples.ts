import { done, examples, owner, type Spot } from '../contract/example.ts'

const at = ({ place }: Spot) => `/projects/${place.project.id}`

async function integrated(spot: Spot) {
  const path = `${at(spot)}/alert_management/http_integrations`
  const made = await done(owner(spot), 'POST', path, { name: 'tool', active: true })
  return { integration_id: String(made.id) }
}

async function alerted(spot: Spot) {
  const { integration_id } = await integrated(spot)
  const path = `${at(spot)}/alert_management/http_integrations/${integration_id}/test`
  const [alert] = await done(owner(spot), 'POST', path, { title: 'disk full' })
  return { alert_iid: String(alert.iid) }
}

async function noted(spot: Spot) {
  const ids = await alerted(spot)
  const path = `${at(spot)}/alert_management_alerts/${ids.alert_iid}/notes`
  const note = await done(owner(spot), 'POST', path, { body: 'I look at it' })
  return { ...ids, note_id: String(note.id) }
}

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

async function pictured(spot: Spot) {
  const ids = await alerted(spot)
  const form = new FormData()
  form.set('file', new Blob([png]), 'graph.png')
  const path = `${at(spot)}/alert_management_alerts/${ids.alert_iid}/metric_images`
  const reply = await owner(spot).post(path, undefined, { raw: form })
  const [, secret = ''] = /alert_metric_images\/([0-9a-f]+)/.exec(reply.body.file_path) ?? []
  return { ...ids, image_id: String(reply.body.id), secret, filename: 'graph.png' }
}

async function opened(spot: Spot) {
  const { alert_iid } = await alerted(spot)
  const path = `${at(spot)}/alert_management_alerts/${alert_iid}/incident`
  const issue = await done(owner(spot), 'POST', path)
  return { issue_iid: String(issue.iid) }
}

async function timed(spot: Spot) {
  const ids = await opened(spot)
  const path = `${at(spot)}/issues/${ids.issue_iid}/timeline_events`
  const event = await done(owner(spot), 'POST', path, { note: 'restarted' })
  return { ...ids, event_id: String(event.id) }
}

async function reporting(spot: Spot) {
  const settings = { active: true, integrated: true }
  await done(owner(spot), 'PUT', `${at(spot)}/error_tracking/settings`, settings)
  const [key] = await done(owner(spot), 'GET', `${at(spot)}/error_tracking/client_keys`)
  return { key_id: String(key.id), public_key: String(key.public_key) }
}

async function reported(spot: Spot) {
  const { key_id, public_key } = await reporting(spot)
  const path = `/errortracking/api/v1/projects/api/${spot.place.project.id}/store`
  const event = { message: 'it broke', platform: 'other' }
  await spot.stage.world.nobody.post(path, event, {
    host: true,
    headers: { 'X-Sentry-Auth': `Sentry sentry_key=${public_key}` },
  })
  await spot.stage.world.runTasks()
  const [error] = await done(owner(spot), 'GET', `${at(spot)}/error_tracking/errors`)
  return { key_id, error_id: String(error.id) }
}

const report = {
  elsewhere: 'test/monitoring/error-ingestion.test.ts, which shows the key of a client',
} as const

const INTEGRATION = 'P/alert_management/http_integrations/:integration_id'
const ALERT = 'P/alert_management_alerts/:alert_iid'
const body = { body: 'text' }

export const monitoringExamples = examples({
  'POST P/alert_management/http_integrations': { body: { name: 'tool', active: true } },
  [`GET ${INTEGRATION}`]: { prepare: integrated },
  [`PUT ${INTEGRATION}`]: { prepare: integrated, body: { active: false } },
  [`DELETE ${INTEGRATION}`]: { prepare: integrated },
  [`POST ${INTEGRATION}/reset_token`]: { prepare: integrated },
  [`POST ${INTEGRATION}/test`]: { prepare: integrated, body: { title: 'disk full' } },
  'POST P/alert_management/payload_fields': { body: { payload: { title: 'disk full' } } },
  [`GET ${ALERT}`]: { prepare: alerted },
  [`PUT ${ALERT}`]: { prepare: alerted, body: { status: 'acknowledged' } },
  [`POST ${ALERT}/incident`]: { prepare: alerted },
  [`GET ${ALERT}/notes`]: { prepare: alerted },
  [`POST ${ALERT}/notes`]: { prepare: alerted, body },
  [`GET ${ALERT}/notes/:note_id`]: { prepare: noted },
  [`PUT ${ALERT}/notes/:note_id`]: { prepare: noted, body },
  [`DELETE ${ALERT}/notes/:note_id`]: { prepare: noted },
  [`GET ${ALERT}/metric_images`]: { prepare: alerted },
  [`POST ${ALERT}/metric_images`]: { prepare: alerted, form: { file: new Blob([png]) } },
  [`PUT ${ALERT}/metric_images/:image_id`]: { prepare: pictured, body: { url_text: 'graph' } },
  [`DELETE ${ALERT}/metric_images/:image_id`]: { prepare: pictured },
  'GET /-/project/:id/alert_metric_images/:secret/:filename': { prepare: pictured },
  'GET P/error_tracking/settings': { prepare: reporting },
  'PUT P/error_tracking/settings': { body: { active: true, integrated: true } },
  'PATCH P/error_tracking/settings': { prepare: reporting, body: { active: false } },
  'GET P/error_tracking/client_keys': { prepare: reporting },
  'DELETE P/error_tracking/client_keys/:key_id': { prepare: reporting },
  'GET P/error_tracking/errors/:error_id': { prepare: reported },
  'PUT P/error_tracking/errors/:error_id': { prepare: reported, body: { status: 'resolved' } },
  'GET P/error_tracking/errors/:error_id/events': { prepare: reported },
  'GET P/error_tracking/errors/:error_id/events/latest': { prepare: reported },
  'POST /errortracking/api/v1/projects/api/:project_id/envelope': report,
  'POST /errortracking/api/v1/projects/api/:project_id/store': report,
  'PUT P/incident_management_settings': { body: { create_issue: true } },
  'GET P/IS/incident': { prepare: opened },
  'PUT P/IS/incident': { prepare: opened, body: { severity: 'high' } },
  'GET P/IS/timeline_events': { prepare: opened },
  'POST P/IS/timeline_events': { prepare: opened, body: { note: 'restarted' } },
  'PUT P/IS/timeline_events/:event_id': { prepare: timed, body: { note: 'restarted twice' } },
  'DELETE P/IS/timeline_events/:event_id': { prepare: timed },
})

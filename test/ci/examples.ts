import { apiEndpoints } from '../../src/areas.ts'
import { done, either, examples, owner, type Spot } from '../contract/example.ts'

const elsewhere = 'needs a pipeline or a runner: test/ci'

/** What runners ask with tokens of their own: test/ci speaks their protocol. */
const byRunners = Object.fromEntries(
  apiEndpoints
    .filter(({ path }) => /^\/(runners|user\/runners|jobs\/(:id|request))(\/|$)/.test(path))
    .map(({ method, path }) => [`${method} ${path}`, { elsewhere: 'test/ci/runners' }]),
)

/** The variable that every group, project and schedule of the stage has. */
const named = { path: { key: 'VAR' } }

const withInstanceVariable = {
  by: 'admin',
  async prepare({ stage }: Spot) {
    await done(stage.world.root, 'POST', '/admin/ci/variables', { key: 'VAR', value: 'x' })
    return { key: 'VAR' }
  },
}

/** The project of another visibility, which the owner sees too. */
function otherProject({ stage, place }: Spot): number {
  const other = [...stage.places.values()].find((one) => one !== place)
  return Number(other?.project.id)
}

const scopePath = '/job_token_scope'
const withAllowedProject = {
  async prepare(spot: Spot) {
    const target = otherProject(spot)
    const path = `/projects/${spot.place.project.id}${scopePath}/allowlist`
    await done(owner(spot), 'POST', path, { target_project_id: target })
    return { target_project_id: String(target) }
  },
}
const withAllowedGroup = {
  async prepare(spot: Spot) {
    const target = spot.place.group.id
    const path = `/projects/${spot.place.project.id}${scopePath}/groups_allowlist`
    await done(owner(spot), 'POST', path, { target_group_id: target })
    return { target_group_id: String(target) }
  },
}
const groupForms = Object.fromEntries(
  ['P/job_token_scope/groups_allowlist', 'P/job_token_scope/allowlist/groups_allowlist'].flatMap(
    (list) => [
      [
        `POST ${list}`,
        { body: ({ place }: Spot) => ({ target_group_id: Number(place.group.id) }) },
      ],
      [`GET ${list}/:target_group_id`, withAllowedGroup],
      [`DELETE ${list}/:target_group_id`, withAllowedGroup],
    ],
  ),
)
const unleash = '/feature_flags/unleash/:project_id'
const asProgram = {
  path: ({ place }: Spot) => ({ project_id: String(place.project.id) }),
  query: ({ place }: Spot) => ({ instance_id: String(place.project.instance_id) }),
}
const listOfUsers = { path: ({ place }: Spot) => ({ iid: String(place.project.user_list_iid) }) }

export const ciExamples = examples({
  ...groupForms,
  'PATCH P/job_token_scope': { body: { enabled: false } },
  'POST P/job_token_scope/allowlist': {
    body: (spot) => ({ target_project_id: otherProject(spot) }),
  },
  'GET P/job_token_scope/allowlist/:target_project_id': withAllowedProject,
  'DELETE P/job_token_scope/allowlist/:target_project_id': withAllowedProject,
  'POST P/environments': { body: { name: 'review/one' } },
  'PUT P/environments/:environment_id': { body: { external_url: 'https://a.example' } },
  'POST P/environments/stop_stale': { body: { before: '2025-01-01T00:00:00Z' } },
  'POST P/deployments': {
    body: ({ place }) => ({
      environment: 'live',
      sha: place.project.tip,
      ref: 'main',
      tag: false,
      status: 'success',
    }),
  },
  'PUT P/deployments/:deployment_id': { body: { status: 'failed' } },
  'POST P/deployments/:deployment_id/approval': { elsewhere },
  'POST P/freeze_periods': { body: { freeze_start: '0 0 1 2 *', freeze_end: '0 0 2 2 *' } },
  'PUT P/freeze_periods/:freeze_period_id': { body: { freeze_end: '0 0 3 1 *' } },
  'GET P/resource_groups/:key': { elsewhere },
  'PUT P/resource_groups/:key': { elsewhere },
  'GET P/resource_groups/:key/upcoming_jobs': { elsewhere },
  'POST P/feature_flags': { body: { name: 'another' } },
  'PUT P/feature_flags/:feature_flag_name': { body: { active: false } },
  'POST P/feature_flags_user_lists': { body: { name: 'others', user_xids: 'c' } },
  'GET P/feature_flags_user_lists/:iid': listOfUsers,
  'PUT P/feature_flags_user_lists/:iid': { ...listOfUsers, body: { user_xids: 'd' } },
  'DELETE P/feature_flags_user_lists/:iid': listOfUsers,
  [`GET ${unleash}`]: asProgram,
  [`GET ${unleash}/features`]: asProgram,
  [`GET ${unleash}/client/features`]: asProgram,
  [`POST ${unleash}/client/register`]: asProgram,
  [`POST ${unleash}/client/metrics`]: asProgram,
  'POST P/secure_files': { form: { name: 'other.txt', file: new Blob(['secret']) } },
  'POST /ci/lint': { body: { content: 'test:\n  script: echo\n' } },
  'POST P/runners': { elsewhere },
  'DELETE P/runners/:runner_id': { elsewhere },
  ...byRunners,
  'GET /runners/router/discovery': { never: 'there is no job router: always 404' },
  ...either({
    'POST /variables': { body: { key: 'NEW', value: 'value' } },
    'GET /variables/:key': named,
    'PUT /variables/:key': { ...named, body: { value: 'changed' } },
    'DELETE /variables/:key': named,
  }),
  'GET /admin/ci/variables': { by: 'admin' },
  'POST /admin/ci/variables': { by: 'admin', body: { key: 'NEW', value: 'value' } },
  'GET /admin/ci/variables/:key': withInstanceVariable,
  'PUT /admin/ci/variables/:key': { ...withInstanceVariable, body: { value: 'changed' } },
  'DELETE /admin/ci/variables/:key': withInstanceVariable,
  'POST P/triggers': { body: { description: 'another' } },
  'PUT P/triggers/:trigger_id': { body: { description: 'renamed' } },
  'POST P/trigger/pipeline': { elsewhere: 'needs a configuration: test/ci/triggers' },
  'POST P/ref/:ref/trigger/pipeline': { elsewhere: 'needs a configuration: test/ci/triggers' },
  'POST P/pipeline_schedules': {
    body: { description: 'every week', ref: 'main', cron: '0 4 * * 1' },
  },
  'PUT P/pipeline_schedules/:pipeline_schedule_id': { body: { description: 'renamed' } },
  'POST P/pipeline_schedules/:pipeline_schedule_id/variables': {
    body: { key: 'NEW', value: 'value' },
  },
  'GET P/pipeline_schedules/:pipeline_schedule_id/variables/:key': named,
  'PUT P/pipeline_schedules/:pipeline_schedule_id/variables/:key': {
    ...named,
    body: { value: 'changed' },
  },
  'DELETE P/pipeline_schedules/:pipeline_schedule_id/variables/:key': named,
  ...Object.fromEntries(
    [
      'POST P/pipeline',
      'GET P/pipelines/latest',
      'GET P/pipelines/:pipeline_id',
      'GET P/pipelines/:pipeline_id/variables',
      'POST P/pipelines/:pipeline_id/retry',
      'POST P/pipelines/:pipeline_id/cancel',
      'PUT P/pipelines/:pipeline_id/metadata',
      'DELETE P/pipelines/:pipeline_id',
      'GET P/pipelines/:pipeline_id/jobs',
      'GET P/pipelines/:pipeline_id/bridges',
      'GET P/jobs/:job_id',
      'POST P/jobs/:job_id/cancel',
      'POST P/jobs/:job_id/retry',
      'POST P/jobs/:job_id/play',
      'GET P/pipelines/:pipeline_id/test_report',
      'GET P/pipelines/:pipeline_id/test_report_summary',
      'GET /test_report_summary',
      'POST /runners',
      'GET /runners',
      'GET /runners/all',
      'GET /runners/:runner_id',
      'PUT /runners/:runner_id',
      'DELETE /runners/:runner_id',
      'GET /runners/:runner_id/managers',
      'POST /runners/:runner_id/reset_authentication_token',
      'POST /runners/reset_registration_token',
      'GET P/runners',
      'POST P/runners/reset_registration_token',
      'GET P/ci/lint',
      'POST P/ci/lint',
      'POST /runners/verify',
      'POST /runners/reset_authentication_token',
      'DELETE /runners',
      'DELETE /runners/managers',
      'POST /user/runners',
      'POST /jobs/request',
      'PUT /jobs/:id',
      'PATCH /jobs/:id/trace',
      'POST /jobs/:id/artifacts/authorize',
      'POST /jobs/:id/artifacts',
      'GET /jobs/:id/artifacts',
      'GET P/jobs/:job_id/trace',
      'GET P/jobs/:job_id/trace/events',
      'POST P/jobs/:job_id/erase',
      'GET /job',
      'GET /job/allowed_agents',
      'GET P/jobs/:job_id/artifacts',
      'GET P/jobs/:job_id/artifacts/tree',
      'GET P/jobs/:job_id/artifacts/*artifact_path',
      'GET P/jobs/artifacts/:ref_name/download',
      'GET P/jobs/artifacts/:ref_name/raw/*artifact_path',
      'POST P/jobs/:job_id/artifacts/keep',
      'DELETE P/jobs/:job_id/artifacts',
    ].map((name) => [name, { elsewhere }]),
  ),
})

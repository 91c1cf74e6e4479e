import { beforeAll, describe, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import { addCiPlace, type CiPlace, startJob, startPipeline, takeJob, zipOf } from '../support/ci.ts'
import { addMember } from '../support/members.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

/** Where the contract admits the token of a job (docs/contract/D §2.5), packages and images aside. */
const ADMITTED = `
GET /job
GET /job/allowed_agents
GET /projects/:id
GET,POST /projects/:id/deployments
GET,PUT,DELETE /projects/:id/deployments/:deployment_id
POST /projects/:id/deployments/:deployment_id/approval
GET /projects/:id/deployments/:deployment_id/merge_requests
GET,POST /projects/:id/environments
GET,PUT,DELETE /projects/:id/environments/:environment_id
POST /projects/:id/environments/:environment_id/stop
POST /projects/:id/environments/stop_stale
DELETE /projects/:id/environments/review_apps
GET /projects/:id/issues
GET /projects/:id/issues/:issue_iid
GET /projects/:id/jobs
GET /projects/:id/jobs/:job_id/artifacts
GET /projects/:id/jobs/:job_id/artifacts/*artifact_path
GET /projects/:id/jobs/:job_id/artifacts/tree
GET /projects/:id/jobs/artifacts/:ref_name/download
GET /projects/:id/jobs/artifacts/:ref_name/raw/*artifact_path
GET /projects/:id/merge_requests
GET /projects/:id/merge_requests/:merge_request_iid
GET /projects/:id/merge_requests/:merge_request_iid/notes
GET /projects/:id/merge_requests/:merge_request_iid/notes/:note_id
GET /projects/:id/pipelines
GET /projects/:id/pipelines/:pipeline_id
GET /projects/:id/pipelines/:pipeline_id/jobs
PUT /projects/:id/pipelines/:pipeline_id/metadata
GET,POST /projects/:id/releases
GET,PUT,DELETE /projects/:id/releases/:tag_name
GET,POST /projects/:id/releases/:tag_name/assets/links
GET,PUT,DELETE /projects/:id/releases/:tag_name/assets/links/:link_id
GET /projects/:id/releases/:tag_name/downloads/*direct_asset_path
POST /projects/:id/releases/:tag_name/evidence
GET /projects/:id/releases/:tag_name/evidence/:evidence_id
GET /projects/:id/releases/permalink/latest
GET /projects/:id/releases/permalink/latest/*suffix_path
GET /projects/:id/repository/branches
GET /projects/:id/repository/changelog
GET /projects/:id/repository/commits/:sha
GET /projects/:id/repository/commits/:sha/merge_requests
GET /projects/:id/repository/files/:file_path/raw
GET /projects/:id/repository/tags
GET /projects/:id/repository/tags/:tag_name
GET /projects/:id/secure_files
GET /projects/:id/secure_files/:secure_file_id
GET /projects/:id/secure_files/:secure_file_id/download
`

const admitted = ADMITTED.trim()
  .split('\n')
  .flatMap((line) => {
    const [methods = '', path = ''] = line.split(' ')
    return methods.split(',').map((method) => `${method} ${path}`)
  })

const isOfPackages = (path: string) => /package|registry|^\/v2|^\/jwt|group_|^\/groups/.test(path)

test('the API takes the token of a job where the contract says so, and nowhere else', () => {
  const taking = apiEndpoints
    .filter((one) => one.jobToken && !isOfPackages(one.path))
    .map(({ method, path }) => `${method} ${path}`)
  expect(taking.sort()).toEqual([...admitted].sort())
})

const yaml = `
workflow: {rules: [{if: '$CI_PIPELINE_SOURCE == "api"'}]}
build: {script: make, artifacts: {paths: [out.txt]}}
`

const world = useWorld()
const ana = useCaller(world, 'ana')
let own: Furnished
let foreign: Furnished
let job: Caller

type Call = readonly ['GET' | 'POST' | 'PUT' | 'DELETE', string, number, object?]

interface Furnished extends CiPlace {
  /** One call for most of what a job may do, in an order in which each can be done. */
  readonly calls: readonly Call[]
}

/** A project with something of everything that jobs may reach. */
async function furnished(): Promise<Furnished> {
  const place = await addCiPlace(world, ana, yaml)
  const { path, project } = place
  const sha = project.git('rev-parse', 'main')
  const pipeline = await startPipeline(place)
  const build = await takeJob(place)
  await place.runner.upload(build, await zipOf({ 'out.txt': 'made' }))
  await place.runner.finish(build, 'success')
  const must = async (reply: Promise<{ status: number; body: { id: number; iid: number } }>) => {
    const { status, body } = await reply
    expect(status, JSON.stringify(body)).toBe(201)
    return body
  }
  const deploying = { environment: 'live', sha, ref: 'main', tag: false, status: 'success' }
  await must(ana.post(`${path}/deployments`, deploying))
  const issue = await must(ana.post(`${path}/issues`, { title: 'One' }))
  await ana.post(`${path}/repository/branches`, { branch: 'topic', ref: 'main' })
  const request = await must(
    ana.post(`${path}/merge_requests`, {
      source_branch: 'topic',
      target_branch: 'main',
      title: 'Two',
    }),
  )
  const mr = `${path}/merge_requests/${request.iid}`
  const note = await must(ana.post(`${mr}/notes`, { body: 'Fine' }))
  const form = new FormData()
  form.set('name', 'key.jks')
  form.set('file', new Blob(['key']), 'key.jks')
  const file = await must(ana.post(`${path}/secure_files`, undefined, { raw: form }))
  const calls: Call[] = [
    ['GET', '', 200],
    ['GET', '/jobs', 200],
    ['GET', `/jobs/${build.id}/artifacts`, 200],
    ['GET', `/jobs/${build.id}/artifacts/out.txt`, 200],
    ['GET', `/jobs/${build.id}/artifacts/tree`, 200],
    ['GET', '/jobs/artifacts/main/download?job=build', 200],
    ['GET', '/jobs/artifacts/main/raw/out.txt?job=build', 200],
    ['GET', '/pipelines', 200],
    ['GET', `/pipelines/${pipeline}`, 200],
    ['GET', `/pipelines/${pipeline}/jobs`, 200],
    ['PUT', `/pipelines/${pipeline}/metadata`, 200, { name: 'by a job' }],
    ['GET', '/environments', 200],
    ['POST', '/environments', 201, { name: 'by-job' }],
    ['GET', '/deployments', 200],
    ['POST', '/deployments', 201, { ...deploying, environment: 'by-job' }],
    ['POST', '/environments/stop_stale', 200, { before: '2026-04-01T00:00:00Z' }],
    ['DELETE', '/environments/review_apps', 200],
    ['GET', '/issues', 200],
    ['GET', `/issues/${issue.iid}`, 200],
    ['GET', '/merge_requests', 200],
    ['GET', `/merge_requests/${request.iid}`, 200],
    ['GET', `/merge_requests/${request.iid}/notes`, 200],
    ['GET', `/merge_requests/${request.iid}/notes/${note.id}`, 200],
    ['POST', '/releases', 201, { tag_name: 'v9', ref: 'main', description: 'x' }],
    ['GET', '/releases', 200],
    ['GET', '/releases/v9', 200],
    ['PUT', '/releases/v9', 200, { description: 'y' }],
    ['POST', '/releases/v9/assets/links', 201, { name: 'a', url: 'https://example.com/a' }],
    ['GET', '/releases/v9/assets/links', 200],
    ['DELETE', '/releases/v9', 200],
    ['GET', '/repository/branches', 200],
    ['GET', '/repository/tags', 200],
    ['GET', '/repository/tags/v9', 200],
    ['GET', `/repository/commits/${sha}`, 200],
    ['GET', `/repository/commits/${sha}/merge_requests`, 200],
    ['GET', '/repository/files/.svc-ci.yml/raw?ref=main', 200],
    ['GET', '/secure_files', 200],
    ['GET', `/secure_files/${file.id}`, 200],
    ['GET', `/secure_files/${file.id}/download`, 200],
  ]
  return { ...place, calls }
}

beforeAll(async () => {
  own = await furnished()
  foreign = await furnished()
  const running = await startJob(own)
  job = world.withHeader('JOB-TOKEN', running.job.token)
})

async function statuses({ path, calls }: Furnished, by = job): Promise<string[]> {
  const found: string[] = []
  for (const [method, rest, , body] of calls) {
    const { status } = await by.call(method, path + rest, body)
    found.push(`${method} ${rest} ${status}`)
  }
  return found
}

const asExpected = ({ calls }: Furnished, other?: (method: string, status: number) => number) =>
  calls.map(
    ([method, rest, status]) => `${method} ${rest} ${other ? other(method, status) : status}`,
  )

describe('the token of a job', () => {
  test('does in its own project what jobs may do', async () => {
    expect(await statuses(own)).toEqual(asExpected(own))
  })

  test('finds nothing of a private project that does not let it in', async () => {
    expect(await statuses(foreign)).toEqual(asExpected(foreign, () => 404))
  })

  test('reads of a project that lets it in as its user may, and writes so', async () => {
    const list = `${foreign.path}/job_token_scope/allowlist`
    await ana.post(list, { target_project_id: own.project.id })
    expect(await statuses(foreign)).toEqual(asExpected(foreign))
    // A Reporter's job only reads there, and not what is for Developers.
    const rep = await world.user('rep')
    await addMember(world, own.project.id, rep.id, 30)
    await addMember(world, foreign.project.id, rep.id, 20)
    const { job: theirs } = await startJob(own, { by: rep })
    const asRep = world.withHeader('JOB-TOKEN', theirs.token)
    // The release of the calls is gone again.
    const calls = foreign.calls.filter(([, rest]) => !rest.startsWith('/releases/v9'))
    for (const [method, rest, , body] of calls) {
      const { status } = await asRep.call(method, foreign.path + rest, body)
      const isDenied = method !== 'GET' || rest.startsWith('/secure_files')
      expect([rest, status]).toEqual([rest, isDenied ? 403 : 200])
    }
    await ana.delete(`${list}/${own.project.id}`)
  })

  test('is taken from its header, as a bearer, and from the query or a form', async () => {
    const token = job.token ?? ''
    const path = `${own.path}/environments`
    const bearer = { headers: { Authorization: `Bearer ${token}` } }
    expect((await world.nobody.get(path, bearer)).status).toBe(200)
    expect((await world.nobody.get(`${path}?job_token=${token}`)).status).toBe(200)
    const raw = new URLSearchParams({ name: 'from-body', job_token: token })
    expect((await world.nobody.post(path, undefined, { raw })).status).toBe(201)
    // It is no token of a person, wherever it stands.
    for (const header of ['PRIVATE-TOKEN', 'DEPLOY-TOKEN', 'RUNNER-TOKEN']) {
      expect((await world.withHeader(header, token).get(path)).status).not.toBe(200)
    }
    const basic = { headers: { Authorization: `Basic ${btoa(`svc-ci-token:${token}`)}` } }
    expect((await world.nobody.get(path, basic)).status).not.toBe(200)
  })

  test('opens nothing else: no user, group, member, setting, key, variable or runner', async () => {
    const { path } = own
    const calls: [string, string, object?][] = [
      ['GET', '/user'],
      ['GET', '/users'],
      ['GET', '/projects'],
      ['GET', '/groups'],
      ['GET', '/personal_access_tokens'],
      ['POST', '/projects', { name: 'x' }],
      ['PUT', path, { description: 'x' }],
      ['DELETE', path],
      ['GET', `${path}/members`],
      ['GET', `${path}/variables`],
      ['GET', `${path}/hooks`],
      ['GET', `${path}/runners`],
      ['GET', `${path}/triggers`],
      ['GET', `${path}/deploy_keys`],
      ['GET', `${path}/job_token_scope`],
      ['PATCH', `${path}/job_token_scope`, { enabled: false }],
      ['GET', `${path}/feature_flags`],
      ['GET', `${path}/protected_environments`],
      ['POST', `${path}/pipeline`, { ref: 'main' }],
      ['POST', `${path}/repository/commits`, {}],
      ['POST', `${path}/issues`, { title: 'x' }],
      ['GET', `${path}/repository/tree`],
      ['GET', `${path}/repository/archive`],
      ['POST', `${path}/secure_files`, {}],
      ['GET', `${path}/jobs/1/trace`],
      ['POST', `${path}/jobs/1/retry`],
      ['GET', '/runners/all'],
      ['GET', '/application/settings'],
    ]
    for (const [method, at, body] of calls) {
      const { status } = await job.call(method, at, body)
      expect([401, 403, 404], `${method} ${at}`).toContain(status)
    }
    expect((await ana.get(`${path}/job_token_scope`)).body.inbound_enabled).toBe(true)
  })

  test('ends with its job, with its user, and when the project takes its user away', async () => {
    const kim = await world.user('kim')
    await addMember(world, own.project.id, kim.id, 30)
    const started = async () => {
      const { job, at } = await startJob(own, { by: kim })
      return { at, job, asJob: world.withHeader('JOB-TOKEN', job.token) }
    }
    const releases = `${own.path}/releases`
    const one = await started()
    expect((await one.asJob.get(releases)).status).toBe(200)
    await ana.delete(`${own.path}/members/${kim.id}`)
    expect((await one.asJob.get(releases)).status).toBe(404)
    await addMember(world, own.project.id, kim.id, 30)
    expect((await one.asJob.get(releases)).status).toBe(200)
    await world.root.post(`/users/${kim.id}/block`)
    expect((await one.asJob.get(releases)).status).toBe(401)
    await world.root.post(`/users/${kim.id}/unblock`)
    expect((await one.asJob.get(releases)).status).toBe(200)
    await ana.post(`${one.at}/cancel`)
    // While it cleans up it may still need it.
    expect((await one.asJob.get(releases)).status).toBe(200)
    await own.runner.update(one.job, 'failed')
    expect((await one.asJob.get(releases)).status).toBe(401)
  })
})

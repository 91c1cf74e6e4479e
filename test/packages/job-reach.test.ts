import { beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { addRunner } from '../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'
import { askRegistry, pushImage } from './container-registry/push-image.ts'
import { tarballOf } from './tarball.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let consumer: number
let library: number
let job: Caller
const RREV = 'a'.repeat(32)

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  const made = async (name: string) =>
    (await ana.post('/projects', { name, namespace_id: groupId })).body.id as number
  consumer = await made('consumer')
  library = await made('library')
  await commit(consumer, { '.svc-ci.yml': 'x: {script: make}' })
  await commit(library, {
    'composer.json': '{"name":"acme/tool"}',
    'go.mod': 'module 127.0.0.1/acme/library\n',
  })
  await ana.post(`/projects/${library}/repository/tags?tag_name=v1.0.0&ref=main`)
  await publishAll()
  await ana.post(`/projects/${consumer}/pipeline`, { ref: 'main' })
  await world.runTasks()
  const given = await (await addRunner(world, ana, consumer)).request()
  job = world.withHeader('JOB-TOKEN', given?.token ?? '')
})

const push = (name: string) => askRegistry(world, job, 'POST', `${name}/blobs/uploads/`, '')

async function commit(id: number, files: Readonly<Record<string, string>>) {
  const actions = Object.entries(files).map(([file_path, content]) => {
    return { action: 'create', file_path, content }
  })
  const body = { branch: 'main', commit_message: 'one', actions }
  expect((await ana.post(`/projects/${id}/repository/commits`, body)).status).toBe(201)
}

async function publishAll() {
  const at = `/projects/${library}/packages`
  const tarball = await tarballOf({
    'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  })
  const form = new FormData()
  form.set('chart', new Blob([tarball]), 'web.tgz')
  const conan = `${at}/conan/v2/conans/tool/1.0/_/_/revisions/${RREV}/files`
  const answers = [
    await ana.post(`${at}/composer`, { tag: 'v1.0.0' }),
    await ana.post(`${at}/helm/api/stable/charts`, undefined, { raw: form }),
    await ana.put(`${at}/terraform/modules/vpc/aws/1.0.0/file`, undefined, { raw: tarball }),
    await ana.put(`${conan}/conanfile.py`, undefined, { raw: 'x' }),
    await ana.put(`${conan}/conanmanifest.txt`, undefined, { raw: 'x' }),
    (await pushImage(world, ana, 'acme/library/app', 'v1')).answer,
  ]
  expect(answers.map((one) => one.status)).toEqual([201, 201, 201, 200, 200, 201])
}

/** What a job finds of the library: in its project, and in the places where whole groups or servers are looked through. */
async function found(who: Caller) {
  const at = `/projects/${library}/packages`
  const status = async (path: string) => (await who.get(path)).status
  const versions = await who.get('/packages/terraform/modules/v1/acme/vpc/aws/versions')
  const search = await who.get('/packages/conan/v1/conans/search?q=tool*')
  return {
    helm: await status(`${at}/helm/stable/index.yaml`),
    go: await status(`${at}/go/127.0.0.1/acme/library/@v/list`),
    conan: await status(`${at}/conan/v2/conans/tool/1.0/_/_/latest`),
    composer: await status(`/group/${groupId}/-/packages/composer/p2/acme/tool.json`),
    terraform: versions.body.modules?.[0].versions.length,
    search: search.body.results,
    image: (await askRegistry(world, who, 'GET', 'acme/library/app/manifests/v1')).status,
  }
}

const none = { helm: 404, go: 404, conan: 404, composer: 404, terraform: 0, search: [], image: 404 }
const all = {
  helm: 200,
  go: 200,
  conan: 200,
  composer: 200,
  terraform: 1,
  search: ['tool/1.0'],
  image: 200,
}

test('a job finds nothing of a private project that does not list its own', async () => {
  expect(await found(job)).toEqual(none)
})

test('a job finds everything of one that lists its project, wherever it looks, and publishes nothing of others', async () => {
  const list = `/projects/${library}/job_token_scope/allowlist`
  expect((await ana.post(list, { target_project_id: consumer })).status).toBe(201)
  expect(await found(job)).toEqual(all)
  const download = await job.get('/packages/terraform/modules/v1/acme/vpc/aws/1.0.0/download')
  const path = (download.headers.get('x-terraform-get') ?? '').replace('/api/v4', '')
  expect([download.status, (await world.nobody.get(path)).status]).toEqual([204, 200])
  await ana.delete(`${list}/${consumer}`)
  expect(await found(job)).toEqual(none)
})

test('a job finds what its user may read alone', async () => {
  const list = `/projects/${library}/job_token_scope/allowlist`
  await ana.post(list, { target_project_id: consumer })
  await ana.put(`/projects/${library}`, { package_registry_access_level: 'disabled' })
  expect(await found(job)).toEqual({ ...none, helm: 403, go: 403, conan: 403, image: 200 })
  await ana.put(`/projects/${library}`, { package_registry_access_level: 'enabled' })
  expect(await found(job)).toEqual(all)
})

test('what a job publishes in another project shows its pipeline only to those who may read the project of the job', async () => {
  const open = (await createProject(ana, 'shared', { visibility: 'public' })).id
  await ana.post(`/projects/${open}/job_token_scope/allowlist`, { target_project_id: consumer })
  const at = `/projects/${open}/packages`
  expect((await job.put(`${at}/generic/a/1/f`, undefined, { raw: 'x' })).status).toBe(201)
  const [shown] = (await world.nobody.get(at)).body
  expect([shown.pipelines, shown.pipeline]).toEqual([[], undefined])
  const files = (await world.nobody.get(`${at}/${shown.id}/package_files`)).body
  expect(files).toMatchObject([{ file_name: 'f', pipelines: [] }])
  expect((await world.nobody.get(`${at}/${shown.id}/pipelines`)).body).toEqual([])
  const web_url = expect.stringContaining('/acme/consumer/-/pipelines/')
  expect((await ana.get(`${at}/${shown.id}`)).body.pipeline).toMatchObject({ web_url })
  expect((await ana.get(`${at}/${shown.id}/pipelines`)).body).toMatchObject([{ web_url }])
})

test('a job pushes images of its own project, and pulls from others at most', async () => {
  await ana.put(`/groups/${groupId}`, { visibility: 'public' })
  const open = { name: 'open', namespace_id: groupId, visibility: 'public' }
  await ana.post('/projects', open)
  await pushImage(world, ana, 'acme/open/app', 'v1')
  expect((await push('acme/consumer/app')).status).toBe(202)
  expect((await push('acme/open/app')).status).toBe(403)
  const pulled = await askRegistry(world, job, 'GET', 'acme/open/app/manifests/v1')
  expect(pulled.status).toBe(200)
  await ana.delete(`/projects/${library}/job_token_scope/allowlist/${consumer}`)
  expect((await push('acme/library/app')).status).toBe(404)
})

test('a job reads the images of its project, and deletes a tag as its user may', async () => {
  await pushImage(world, ana, 'acme/consumer/app', 'v1')
  const at = `/projects/${consumer}/registry/repositories`
  const [{ id }] = (await ana.get(at)).body
  for (const path of [
    at,
    `/registry/repositories/${id}`,
    `${at}/${id}/tags`,
    `${at}/${id}/tags/v1`,
  ]) {
    expect([path, (await job.get(path)).status]).toEqual([path, 200])
  }
  expect((await job.delete(`${at}/${id}/tags/v1`)).status).toBe(200)
  for (const path of [`${at}/${id}/tags?name_regex_delete=none`, `${at}/${id}`]) {
    expect((await job.delete(path)).status).toBe(401)
  }
})

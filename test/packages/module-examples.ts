import { done, examples, owner, type Spot } from '../contract/example.ts'
import { tarballOf } from './tarball.ts'

const chart = await tarballOf({
  'c/Chart.yaml': 'apiVersion: v2\nname: contract\nversion: 1.0.0\n',
})
const module = await tarballOf({ 'main.tf': 'locals {}\n' })

const api = (spot: Spot) => `/projects/${spot.place.project.id}/packages`

async function chartPublished(spot: Spot) {
  const form = new FormData()
  form.set('chart', new Blob([chart]), 'c.tgz')
  await owner(spot).post(`${api(spot)}/helm/api/stable/charts`, undefined, { raw: form })
  return { channel: 'stable', file_name: 'contract-1.0.0.tgz' }
}

async function modulePublished(spot: Spot) {
  const path = `${api(spot)}/terraform/modules/contract/local/1.0.0/file`
  await owner(spot).put(path, undefined, { raw: module })
  const group = await done(owner(spot), 'GET', `/groups/${spot.place.group.id}`)
  return {
    module_namespace: String(group.path),
    module_name: 'contract',
    module_system: 'local',
    module_version: '1.0.0',
  }
}

/** The module that the project itself is; its repository need not hold one. */
async function goModule(spot: Spot) {
  const project = await done(owner(spot), 'GET', `/projects/${spot.place.project.id}`)
  const { hostname, pathname } = new URL(project.web_url)
  return { module: `${hostname}${pathname}`, version: 'v1.0.0.info' }
}

const registry = '/packages/terraform/modules/v1/:module_namespace/:module_name/:module_system'
const ofProject = 'P/packages/terraform/modules/:module_name/:module_system'
const prepare = modulePublished
const inRepository = 'the repository must hold what is published'

/** Good requests for formats that are published as archives or by a ref. */
export const moduleExamples = examples({
  'GET P/packages/helm/:channel/index.yaml': { prepare: chartPublished },
  'GET P/packages/helm/:channel/charts/:file_name': { prepare: chartPublished },
  'POST P/packages/helm/api/:channel/charts': {
    path: { channel: 'stable' },
    form: { chart: new Blob([chart]) },
  },
  [`GET ${registry}`]: { prepare },
  [`GET ${registry}/versions`]: { prepare },
  [`GET ${registry}/download`]: { prepare },
  [`GET ${registry}/:module_version`]: { prepare },
  [`GET ${registry}/:module_version/download`]: { prepare },
  [`GET ${registry}/:module_version/file`]: { prepare },
  [`GET ${ofProject}`]: { prepare },
  [`GET ${ofProject}/:module_version`]: { prepare },
  [`PUT ${ofProject}/:module_version/file`]: {
    path: { module_name: 'contract', module_system: 'local', module_version: '1.0.0' },
  },
  'GET P/packages/go/*module/@v/list': { prepare: goModule },
  'GET P/packages/go/*module/@latest': { prepare: goModule, elsewhere: inRepository },
  'GET P/packages/go/*module/@v/:version': { prepare: goModule, elsewhere: inRepository },
  'POST P/packages/composer': { body: { branch: 'main' }, elsewhere: inRepository },
  'GET P/packages/composer/archives/:vendor/:file_name': {
    query: { sha: '0'.repeat(40) },
    elsewhere: inRepository,
  },
  ...Object.fromEntries(
    ['p2/:vendor/:package_name', 'p/:sha', ':vendor/:package_name'].map((path) => [
      `GET /group/:id/-/packages/composer/${path}`,
      { elsewhere: inRepository },
    ]),
  ),
})

import { done, examples, owner, type Spot } from '../contract/example.ts'
import { documentOf } from './npm-document.ts'

const plain = await documentOf('contract-tool', '1.0.0')
const scoped = await documentOf('@contract/tool', '1.0.0')

type Level = 'P' | 'G/-' | ''
const NAMES = [':package_name', ':scope/:package_name'] as const

/** Publishes a package whose scope is the path of the group, so that the whole server knows it. */
async function npmPublished(spot: Spot) {
  const { group, name } = await npmNamed(spot)
  const project = `/projects/${spot.place.project.id}/packages/npm`
  const path = `${project}/${encodeURIComponent(name)}`
  await done(owner(spot), 'PUT', path, await documentOf(name, '1.0.0', { tag: 'beta' }))
  return { scope: `@${group.path}`, name, tag: 'beta', file_name: 'tool-1.0.0.tgz' }
}

function npmAt(form: (typeof NAMES)[number]) {
  return async (spot: Spot) => {
    const { name, scope, ...rest } = await npmPublished(spot)
    return form === ':package_name'
      ? { ...rest, package_name: name }
      : { ...rest, scope, package_name: 'tool' }
  }
}

/** As `npmAt`, with the revision of the document that is changed. */
function npmChanged(form: (typeof NAMES)[number]) {
  return async (spot: Spot) => {
    const ids = await npmAt(form)(spot)
    const { name } = await npmNamed(spot)
    const path = `/projects/${spot.place.project.id}/packages/npm/${encodeURIComponent(name)}`
    return { ...ids, revision: (await done(owner(spot), 'GET', path))._rev }
  }
}

async function npmNamed(spot: Spot) {
  const group = await done(owner(spot), 'GET', `/groups/${spot.place.group.id}`)
  return { group, name: `@${group.path}/tool` }
}

const unpublishing = Object.fromEntries(
  NAMES.flatMap((form) => {
    const root = `P/packages/npm/${form}`
    const prepare = npmChanged(form)
    const never = 'several projects may have the package'
    return [
      [`PUT ${root}/-rev/:revision`, { prepare, raw: '{"versions":{}}' }],
      [`DELETE ${root}/-rev/:revision`, { prepare }],
      [`DELETE ${root}/-/*file_name/-rev/:revision`, { prepare }],
      ...['G/-', ''].flatMap((level) =>
        ['PUT', 'DELETE'].map((method) => [
          `${method} ${level}/packages/npm/${form}/-rev/:revision`,
          { prepare, never },
        ]),
      ),
    ]
  }),
)

const npm = Object.fromEntries(
  (['P', 'G/-', ''] as const).flatMap((level: Level) =>
    NAMES.flatMap((form) => {
      const root = `${level}/packages/npm`
      const tags = `${root}/-/package/${form}/dist-tags`
      const prepare = npmAt(form)
      return [
        [`GET ${root}/${form}`, { prepare }],
        [`GET ${root}/${form}/-/*file_name`, { prepare }],
        [`GET ${tags}`, { prepare }],
        [`PUT ${tags}/:tag`, { prepare, raw: '"1.0.0"' }],
        [`DELETE ${tags}/:tag`, { prepare }],
      ]
    }),
  ),
)

const publishing = {
  'PUT P/packages/npm/:package_name': { path: { package_name: 'contract-tool' }, body: plain },
  'PUT P/packages/npm/:scope/:package_name': {
    path: { scope: '@contract', package_name: 'tool' },
    body: scoped,
  },
}

async function pypiPublished(spot: Spot) {
  const project = `/projects/${spot.place.project.id}/packages`
  const form = new FormData()
  form.set('name', 'contract-tool')
  form.set('version', '1.0')
  form.set('content', new Blob(['bytes']), 'contract_tool-1.0.tar.gz')
  await owner(spot).post(`${project}/pypi`, undefined, { raw: form })
  const [row] = await done(owner(spot), 'GET', `${project}?package_type=pypi`)
  const [file] = await done(owner(spot), 'GET', `${project}/${row.id}/package_files`)
  return {
    package_name: 'contract-tool',
    sha256: String(file.file_sha256),
    file_name: 'contract_tool-1.0.tar.gz',
  }
}

const pypi = {
  'POST P/packages/pypi': { elsewhere: 'the name of the file in its form must fit' },
  ...Object.fromEntries(
    ['P', 'G/-'].flatMap((level) =>
      ['/simple', '/simple/:package_name', '/files/:sha256/:file_name'].map((path) => [
        `GET ${level}/packages/pypi${path}`,
        { prepare: pypiPublished },
      ]),
    ),
  ),
}

/** A file of an artifact that is named after its project. */
async function mavenPublished(spot: Spot) {
  const { path_with_namespace: name } = await done(
    owner(spot),
    'GET',
    `/projects/${spot.place.project.id}`,
  )
  const path = `${name}/1.0/p-1.0.jar`
  const target = `/projects/${spot.place.project.id}/packages/maven/${path}`
  await owner(spot).put(target, undefined, { raw: 'bytes' })
  return { path }
}

const maven = {
  'PUT P/packages/maven/*path': { path: { path: 'org/contract/tool/1.0/tool-1.0.jar' } },
  'GET P/packages/maven/*path': { prepare: mavenPublished },
  'GET G/-/packages/maven/*path': { prepare: mavenPublished },
  'GET /packages/maven/*path': { prepare: mavenPublished },
}

/** Good requests for what package managers ask. */
export const protocolExamples = examples({
  ...npm,
  ...unpublishing,
  ...publishing,
  ...pypi,
  ...maven,
})

import { done, examples, owner, type Spot } from '../contract/example.ts'
import { zipOf } from './zip-file.ts'

const nupkg = await zipOf({
  'Contract.nuspec': `<package><metadata><id>Contract</id><version>1.0.0</version><authors>a</authors>
    <description>d</description></metadata></package>`,
})

const api = (spot: Spot) => `/projects/${spot.place.project.id}/packages`

async function nugetPublished(spot: Spot) {
  const form = new FormData()
  form.set('package', new Blob([nupkg]), 'package.nupkg')
  await owner(spot).put(`${api(spot)}/nuget`, undefined, { raw: form })
  return {
    package_name: 'contract',
    package_version: '1.0.0',
    file_name: 'contract.1.0.0.nupkg',
    collection: 'FindPackagesById()',
  }
}

const pushed = { form: { package: new Blob([nupkg]) } }
const symbols = 'a debugger says in a header which file it means'

const nuget = {
  ...Object.fromEntries(
    ['P', 'G/-'].flatMap((level) =>
      ['metadata/:package_name/index.json', 'metadata/:package_name/:package_version', 'query'].map(
        (path) => [`GET ${level}/packages/nuget/${path}`, { prepare: nugetPublished }],
      ),
    ),
  ),
  'GET P/packages/nuget/download/:package_name/index.json': { prepare: nugetPublished },
  'GET P/packages/nuget/download/:package_name/:package_version/:file_name': {
    prepare: nugetPublished,
  },
  'GET P/packages/nuget/v2/:collection': {
    prepare: nugetPublished,
    query: { id: "'contract'" },
  },
  'DELETE P/packages/nuget/:package_name/:package_version': { prepare: nugetPublished },
  'DELETE P/packages/nuget/v2/:package_name/:package_version': { prepare: nugetPublished },
  'PUT P/packages/nuget': pushed,
  'PUT P/packages/nuget/v2': pushed,
  'PUT P/packages/nuget/symbolpackage': { ...pushed, prepare: nugetPublished },
  'GET P/packages/nuget/symbolfiles/:file_name/:signature/:same_file_name': { elsewhere: symbols },
  'GET G/-/packages/nuget/symbolfiles/:file_name/:signature/:same_file_name': {
    elsewhere: symbols,
  },
}

const RREV = 'a'.repeat(32)
const PREV = 'b'.repeat(32)
const PID = 'c'.repeat(40)

const recipe = {
  recipe_name: 'contract',
  recipe_version: '1.0',
  recipe_user: '_',
  recipe_channel: '_',
  recipe_revision: RREV,
  package_id: PID,
  package_revision: PREV,
}

async function recipePublished(spot: Spot) {
  const at = `${api(spot)}/conan/v2/conans/contract/1.0/_/_/revisions/${RREV}`
  const pkg = `${at}/packages/${PID}/revisions/${PREV}`
  for (const path of [
    `${at}/files/conanfile.py`,
    `${at}/files/conanmanifest.txt`,
    `${pkg}/files/conaninfo.txt`,
    `${pkg}/files/conanmanifest.txt`,
  ]) {
    await owner(spot).put(path, undefined, { raw: '[settings]\n' })
  }
  return recipe
}

/** The path of the project, as recipes of the whole server have it for their user. */
async function instanceRecipe(spot: Spot) {
  const project = await done(owner(spot), 'GET', `/projects/${spot.place.project.id}`)
  const user = String(project.path_with_namespace).replaceAll('/', '+')
  return { ...recipe, recipe_user: user, recipe_channel: 'stable' }
}

async function oldPublished(spot: Spot, level: 'P' | '') {
  const ids = level === 'P' ? recipe : await instanceRecipe(spot)
  const root = level === 'P' ? `${api(spot)}/conan/v1` : '/packages/conan/v1'
  const { recipe_user: user, recipe_channel: channel } = ids
  const at = `${root}/files/contract/1.0/${user}/${channel}/0`
  for (const file of ['conanfile.py', 'conanmanifest.txt']) {
    await owner(spot).put(`${at}/export/${file}`, undefined, { raw: 'bytes' })
  }
  for (const file of ['conaninfo.txt', 'conanmanifest.txt']) {
    await owner(spot).put(`${at}/package/${PID}/0/${file}`, undefined, { raw: 'bytes' })
  }
  return ids
}

const RECIPE = ':recipe_name/:recipe_version/:recipe_user/:recipe_channel'
const REVISION = `${RECIPE}/revisions/:recipe_revision`
const PACKAGE = `${REVISION}/packages/:package_id`
const PACKAGE_REVISION = `${PACKAGE}/revisions/:package_revision`

const reads = [
  `${RECIPE}/latest`,
  `${RECIPE}/revisions`,
  `${RECIPE}/search`,
  `${REVISION}/files`,
  `${REVISION}/search`,
  `${PACKAGE}/latest`,
  `${PACKAGE}/revisions`,
  `${PACKAGE_REVISION}/files`,
]
const deletions = [REVISION, `${REVISION}/packages`, PACKAGE, PACKAGE_REVISION]
const withFile = (file_name: string) => async (spot: Spot) => ({
  ...(await recipePublished(spot)),
  file_name,
})
const v2 = 'P/packages/conan/v2/conans'

const conan = {
  ...Object.fromEntries(reads.map((path) => [`GET ${v2}/${path}`, { prepare: recipePublished }])),
  ...Object.fromEntries(
    deletions.map((path) => [`DELETE ${v2}/${path}`, { prepare: recipePublished }]),
  ),
  [`GET ${v2}/${REVISION}/files/:file_name`]: { prepare: withFile('conanfile.py') },
  [`GET ${v2}/${PACKAGE_REVISION}/files/:file_name`]: { prepare: withFile('conaninfo.txt') },
  [`PUT ${v2}/${REVISION}/files/:file_name`]: { path: { ...recipe, file_name: 'conanfile.py' } },
  [`PUT ${v2}/${PACKAGE_REVISION}/files/:file_name`]: {
    path: { ...recipe, file_name: 'conan_package.tgz' },
  },
}

const old = Object.fromEntries(
  (['P', ''] as const).flatMap((level) => {
    const root = `${level}/packages/conan/v1`
    const at = `${root}/conans/${RECIPE}`
    const files = `${root}/files/${RECIPE}/0`
    const prepare = (spot: Spot) => oldPublished(spot, level)
    const ids = (spot: Spot) => (level === 'P' ? Promise.resolve(recipe) : instanceRecipe(spot))
    const named = (file_name: string, ready: (spot: Spot) => Promise<typeof recipe>) => ({
      prepare: async (spot: Spot) => ({ ...(await ready(spot)), file_name }),
    })
    const pkg = `${at}/packages/:package_id`
    return [
      ...[at, pkg, `${at}/digest`, `${pkg}/digest`, `${at}/download_urls`, `${pkg}/download_urls`]
        .concat(`${at}/search`)
        .map((path) => [`GET ${path}`, { prepare }]),
      ...[at, pkg].map((path) => [`POST ${path}/upload_urls`, { prepare: ids }]),
      [`DELETE ${at}`, { prepare }],
      [`GET ${files}/export/:file_name`, named('conanfile.py', prepare)],
      [`GET ${files}/package/:package_id/0/:file_name`, named('conaninfo.txt', prepare)],
      [`PUT ${files}/export/:file_name`, named('conanfile.py', ids)],
      [`PUT ${files}/package/:package_id/0/:file_name`, named('conan_package.tgz', ids)],
    ]
  }),
)

/** Good requests of NuGet's and Conan's clients. */
export const nugetConanExamples = examples({ ...nuget, ...conan, ...old })

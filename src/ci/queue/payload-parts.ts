import { createHash } from 'node:crypto'
import type { Ctx } from '../../ctx.ts'
import { readFileAt } from '../../git/history/file.ts'
import { ifFound } from '../../repositories/repository/missing.ts'
import { isMap, type Value, type ValueMap } from '../config/values.ts'
import { reportFiles } from './report-files.ts'

type Expand = (text: string) => string

function lines(value: Value): string[] {
  if (value === undefined || value === null) return []
  const list: readonly unknown[] = Array.isArray(value) ? value.flat(10) : [value]
  return list.filter((line): line is string => typeof line === 'string')
}

function texts(value: Value): string[] | undefined {
  return value === undefined || value === null ? undefined : lines(value)
}

/** The scripts of a job in the order in which the runner runs them. */
export function stepsOf(options: ValueMap, timeout: number, expand: Expand) {
  const script = [...lines(options.before_script), ...lines(options.script)]
  const after = lines(options.after_script)
  const steps = [{ name: 'script', script, timeout, when: 'on_success', allow_failure: false }]
  if (isMap(options.release)) {
    const release = [releaseCommand(options.release, expand)]
    steps.push({
      name: 'release',
      script: release,
      timeout,
      when: 'on_success',
      allow_failure: false,
    })
  }
  if (after.length > 0) {
    steps.push({
      name: 'after_script',
      script: after,
      timeout,
      when: 'always',
      allow_failure: true,
    })
  }
  return steps
}

/** `release` as the command line of the release helper. */
function releaseCommand(release: ValueMap, expand: Expand): string {
  const flag = (name: string, value: Value) =>
    typeof value === 'string' && value !== '' ? [`--${name}`, quoted(expand(value))] : []
  const links =
    isMap(release.assets) && Array.isArray(release.assets.links) ? release.assets.links : []
  return [
    'release-cli create',
    ...flag('name', release.name),
    ...flag('description', release.description),
    ...flag('tag-name', release.tag_name),
    ...flag('tag-message', release.tag_message),
    ...flag('ref', release.ref ?? '$CI_COMMIT_SHA'),
    ...flag('released-at', release.released_at),
    ...lines(release.milestones).flatMap((milestone) => flag('milestone', milestone)),
    ...links.flatMap((link) => ['--assets-link', quoted(expand(JSON.stringify(link)))]),
  ].join(' ')
}

/** One word of a shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export function hooksOf(options: ValueMap) {
  const hooks = isMap(options.hooks) ? options.hooks : {}
  const script = lines(hooks.pre_get_sources_script)
  return script.length === 0 ? [] : [{ name: 'pre_get_sources_script', script }]
}

/** `image` as a name or a map. */
export function imageOf(value: Value) {
  const image = typeof value === 'string' ? { name: value } : value
  if (!isMap(image) || typeof image.name !== 'string') return null
  return {
    name: image.name,
    entrypoint: texts(image.entrypoint) ?? null,
    ports: [],
    pull_policy: texts(image.pull_policy) ?? [],
    executor_opts: executorOptions(image),
  }
}

function executorOptions(image: ValueMap) {
  const known = ['docker', 'kubernetes'].filter((key) => isMap(image[key]))
  return Object.fromEntries(known.map((key) => [key, image[key]]))
}

export function servicesOf(value: Value) {
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  return list.flatMap((one) => {
    const image = imageOf(one)
    if (!image) return []
    const given = isMap(one) ? one : {}
    return [
      {
        ...image,
        alias: typeof given.alias === 'string' ? given.alias : '',
        command: texts(given.command) ?? null,
        variables: variablesOf(given.variables),
      },
    ]
  })
}

function variablesOf(value: Value) {
  if (!isMap(value)) return []
  return Object.entries(value).map(([key, given]) => ({
    key,
    value: String(isMap(given) ? (given.value ?? '') : (given ?? '')),
    public: true,
    masked: false,
    file: false,
    raw: isMap(given) && given.expand === false,
  }))
}

/** The archive and the reports that a job wants kept. */
export function artifactsOf(options: ValueMap, expireIn: string) {
  const given = options.artifacts
  if (!isMap(given)) return null
  const when = typeof given.when === 'string' ? given.when : 'on_success'
  const expire_in = String(given.expire_in ?? expireIn)
  const paths = lines(given.paths)
  const untracked = given.untracked === true
  const archive = {
    name: typeof given.name === 'string' ? given.name : 'artifacts',
    untracked,
    paths,
    exclude: lines(given.exclude),
    when,
    expire_in,
    artifact_type: 'archive',
    artifact_format: 'zip',
  }
  const reports = reportFiles(given.reports).map((report) => ({
    name: report.name,
    untracked: false,
    paths: report.paths,
    exclude: [],
    when: 'always',
    expire_in,
    artifact_type: report.type,
    artifact_format: report.format,
  }))
  return [...(paths.length > 0 || untracked ? [archive] : []), ...reports]
}

const MOST_CACHES = 4

/** The caches of a job, their keys worked out: those of protected refs stay apart. */
export async function cachesOf(
  ctx: Ctx,
  place: { readonly projectId: number; readonly sha: string },
  value: Value,
  how: { readonly protected: boolean; readonly separate: boolean; readonly expand: Expand },
) {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const maps = list.filter(isMap).slice(0, MOST_CACHES)
  return await Promise.all(
    maps.map(async (cache, index) => {
      // Always one of the two: no unprotected ref may write what a protected one reads.
      const kind = how.protected && cache.unprotect !== true ? 'protected' : 'non_protected'
      const suffix = how.separate ? `-${kind}` : ''
      const number = index === 0 ? '' : `${index}_`
      const key = await cacheKey(ctx, place, cache.key, { ...how, number })
      return {
        key: `${key}${suffix}`,
        untracked: cache.untracked === true,
        policy: typeof cache.policy === 'string' ? how.expand(cache.policy) : 'pull-push',
        paths: lines(cache.paths),
        when: typeof cache.when === 'string' ? cache.when : 'on_success',
        fallback_keys: lines(cache.fallback_keys).map((one) => `${one}${suffix}`),
      }
    }),
  )
}

/** `key: text`, or `key: {files, prefix}`: then it changes as the content of those files does. */
async function cacheKey(
  ctx: Ctx,
  place: { readonly projectId: number; readonly sha: string },
  key: Value,
  how: { readonly expand: Expand; readonly number: string },
): Promise<string> {
  if (key === undefined || key === null) return `${how.number}default`
  if (!isMap(key)) return String(key)
  const prefix = typeof key.prefix === 'string' ? `${how.expand(key.prefix)}-` : ''
  const repo = ctx.git.open(place.projectId)
  const hash = createHash('sha1')
  let isThere = false
  for (const path of lines(key.files).slice(0, 2)) {
    const file = await ifFound(
      readFileAt(repo, { ref: place.sha, path: how.expand(path), contentUpTo: 0 }),
    )
    if (file) hash.update(`${path}\0${file.blobId}\n`)
    isThere ||= file !== undefined
  }
  return `${prefix}${how.number}${isThere ? hash.digest('hex') : 'default'}`
}

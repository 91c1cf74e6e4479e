import { maxSatisfying } from 'semver'
import { wildcardPattern } from '../../base/patterns/glob.ts'
import { configFault, TOO_LARGE } from './fault.ts'
import { faultOf } from './has-pattern.ts'
import { fillInputs } from './inputs.ts'
import { type Circumstances, firstRule, LONGEST_PATTERN, readRules } from './rules.ts'
import { deepMerge, isMap, type Value, type ValueMap } from './values.ts'
import { expandText } from './variables.ts'
import { readConfigFile, type YamlLimits } from './yaml.ts'

/** A commit of a project, whose files a configuration may include. */
export interface Place {
  readonly projectId: number
  /** The full path of the project. */
  readonly project: string
  readonly sha: string
}

/** Where included files come from; undefined where there is none, or none that the caller may read. */
export interface ConfigSources {
  file(place: Place, path: string): Promise<string | undefined>
  paths(place: Place): Promise<readonly string[]>
  project(path: string, ref: string | undefined): Promise<Place | undefined>
  /** The tags of what a project has released. */
  releases(place: Place): Promise<readonly string[]>
  remote(url: string): Promise<string | undefined>
  template(name: string): Promise<string | undefined>
  /** A file that a job of the parent has left; only children may include such. */
  artifact?: ((job: string, path: string) => Promise<string | undefined>) | undefined
}

/** A file that became part of a configuration. */
export interface Included {
  readonly type: 'local' | 'file' | 'remote' | 'template' | 'component' | 'artifact'
  readonly location: string
  readonly bytes: number
  /** Where it lies in a repository, for what does. */
  readonly path: string | undefined
  /** The project and commit of that path; for what lies in none, of the file that includes it. */
  readonly place: Place
  /** The project and commit of the file that includes it. */
  readonly context: Place
}

interface Found extends Omit<Included, 'bytes' | 'context'> {
  readonly text: string | undefined
}

export interface IncludeContext {
  readonly sources: ConfigSources
  readonly circumstances: Circumstances
  readonly limits: YamlLimits
  /** Grows while files are read; at most 150. */
  readonly included: Included[]
}

const MOST_FILES = 150
const LATEST = '~latest'
const DEEPEST = 100

/**
 * A configuration with what it includes; its own keys lie over theirs (docs/contract/D §5.1 include). `above` names its own
 * file, and those that include it.
 */
export async function withIncludes(
  context: IncludeContext,
  config: ValueMap,
  place: Place,
  above: readonly string[] = [],
): Promise<ValueMap> {
  const { include, ...own } = config
  if (include === undefined || include === null) return own
  if (above.length > DEEPEST) throw configFault('Maximum of nested includes are allowed!')
  let merged: ValueMap = {}
  for (const entry of Array.isArray(include) ? include.flat(10) : [include]) {
    const given = isMap(entry) ? entry : bareInclude(entry)
    if (!(await isWanted(context, given))) continue
    for (const found of await findFiles(context, given, place, above)) {
      const content = await readFound(context, found, place, given.inputs)
      const own = [...above, nameOfFile(found.place, found.path ?? found.location)]
      merged = deepMerge(merged, await withIncludes(context, content, found.place, own))
    }
  }
  return deepMerge(merged, own)
}

/** What identifies a file of a commit. */
export function nameOfFile({ projectId, sha }: Place, path: string): string {
  return `${projectId} ${sha} ${path}`
}

function bareInclude(entry: Value): ValueMap {
  if (typeof entry !== 'string') throw configFault('include config should be an array of hashes')
  return /^https?:\/\//.test(entry) ? { remote: entry } : { local: entry }
}

async function isWanted(context: IncludeContext, given: ValueMap): Promise<boolean> {
  if (given.rules === undefined) return true
  const rule = await firstRule(
    readRules(given.rules, 'include:rules', 'include'),
    context.circumstances,
  )
  return rule !== undefined && rule.when !== 'never'
}

async function readFound(
  context: IncludeContext,
  { text, ...found }: Found,
  from: Place,
  inputs: Value,
): Promise<ValueMap> {
  const { location, type } = found
  if (text === undefined) {
    throw configFault(`${titles[type]} \`${location}\` does not exist!`)
  }
  const { included, limits, circumstances } = context
  included.push({ ...found, context: from, bytes: Buffer.byteLength(text) })
  if (included.length > MOST_FILES) {
    throw configFault(`Maximum of ${MOST_FILES} nested includes are allowed!`)
  }
  // One file may be as large as all together.
  if (included.reduce((sum, { bytes }) => sum + bytes, 0) > limits.maxBytes) {
    throw configFault(TOO_LARGE)
  }
  const file = await readConfigFile(text, limits)
  return await fillInputs(file, isMap(inputs) ? inputs : {}, location, circumstances.patterns)
}

const titles: Readonly<Record<Included['type'], string>> = {
  local: 'Local file',
  file: 'Project file',
  remote: 'Remote file',
  template: 'Template file',
  component: 'Component',
  artifact: 'Artifact',
}

async function findFiles(
  context: IncludeContext,
  given: ValueMap,
  place: Place,
  above: readonly string[],
): Promise<readonly Found[]> {
  const { sources, circumstances } = context
  const text = (value: Value) =>
    typeof value === 'string' ? expandText(value, circumstances.variables) : undefined
  const [local, remote, template] = [text(given.local), text(given.remote), text(given.template)]
  const [project, component] = [text(given.project), text(given.component)]
  if (local !== undefined) return await findLocal(context, local, place, above)
  if (remote !== undefined) {
    const found = await sources.remote(remote)
    return [{ type: 'remote', location: remote, text: found, path: undefined, place }]
  }
  if (template !== undefined) {
    const found = await sources.template(template)
    return [{ type: 'template', location: template, text: found, path: undefined, place }]
  }
  if (component !== undefined) return [await findComponent(sources, component, place)]
  const artifact = text(given.artifact)
  if (artifact !== undefined) return [await findArtifact(sources, artifact, given.job, place)]
  if (project === undefined) {
    throw configFault(
      `\`${JSON.stringify(given)}\` does not have a valid subkey for include. Valid subkeys are: \`local\`, \`project\`, \`remote\`, \`template\`, \`component\``,
    )
  }
  const files = (Array.isArray(given.file) ? given.file : [given.file]).map(text)
  return await findInProject(sources, project, text(given.ref), files)
}

async function findLocal(
  context: IncludeContext,
  local: string,
  place: Place,
  above: readonly string[],
): Promise<readonly Found[]> {
  const path = local.replace(/^\/+/, '')
  const found = async (one: string): Promise<Found> => ({
    type: 'local',
    location: one,
    text: /\.ya?ml$/.test(one) ? await context.sources.file(place, one) : undefined,
    path: one,
    place,
  })
  if (!path.includes('*') || path.length > LONGEST_PATTERN) return [await found(path)]
  const paths = await findPaths(context, path, place)
  // Of a file that includes all files of its folder the others are meant.
  const others = paths.filter((one) => !above.includes(nameOfFile(place, one)))
  return await Promise.all(others.slice(0, MOST_FILES + 1).map(found))
}

async function findPaths(
  { sources, circumstances }: IncludeContext,
  wildcards: string,
  place: Place,
): Promise<string[]> {
  const paths = (await sources.paths(place)).filter((one) => /\.ya?ml$/.test(one))
  try {
    const fits = await circumstances.patterns.testEach([wildcardPattern(wildcards)], paths)
    return paths.filter((_, at) => fits[at])
  } catch (error) {
    throw faultOf(error, 'pattern', wildcards)
  }
}

async function findInProject(
  sources: ConfigSources,
  project: string,
  ref: string | undefined,
  files: readonly (string | undefined)[],
): Promise<readonly Found[]> {
  const place = await sources.project(project, ref)
  if (!place) throw configFault(`Project \`${project}\` not found or access denied!`)
  return await Promise.all(
    files.map(async (file): Promise<Found> => {
      if (file === undefined) throw configFault('include:file config should be a string')
      const path = file.replace(/^\/+/, '')
      const text = await sources.file(place, path)
      return { type: 'file', location: path, text, path, place }
    }),
  )
}

/** `host/group/project/name@version`: `templates/name.yml`, or `templates/name/template.yml`. */
async function findComponent(
  sources: ConfigSources,
  component: string,
  place: Place,
): Promise<Found> {
  const found = { type: 'component', location: component } as const
  const missing = { ...found, text: undefined, path: undefined, place }
  const parts = /^[^/]+\/(.+)\/([^/@]+)@(.+)$/.exec(component)
  const [, project = '', name = '', version = ''] = parts ?? []
  const there = parts ? await findVersion(sources, project, version) : undefined
  if (!there) return missing
  for (const path of [`templates/${name}.yml`, `templates/${name}/template.yml`]) {
    const text = await sources.file(there, path)
    if (text !== undefined) return { ...found, text, path, place: there }
  }
  return missing
}

/** A ref of that name, or else the highest release that fits `~latest`, `1` or `1.2`; none that is a prerelease. */
async function findVersion(
  sources: ConfigSources,
  project: string,
  version: string,
): Promise<Place | undefined> {
  const exact = version === LATEST ? undefined : await sources.project(project, version)
  if (exact || !(version === LATEST || /^\d+(\.\d+)?$/.test(version))) return exact
  const newest = await sources.project(project, undefined)
  const tags = newest ? await sources.releases(newest) : []
  const tag = maxSatisfying(tags, version === LATEST ? '*' : version)
  return tag === null ? undefined : await sources.project(project, `refs/tags/${tag}`)
}

async function findArtifact(
  sources: ConfigSources,
  path: string,
  job: Value,
  place: Place,
): Promise<Found> {
  if (!sources.artifact) {
    throw configFault('include:artifact is for the configuration of child pipelines')
  }
  if (typeof job !== 'string') throw configFault('include:artifact config needs a job')
  const text = await sources.artifact(job, path)
  if (text !== undefined) return { type: 'artifact', location: path, text, path: undefined, place }
  throw configFault(`Job \`${job}\` of the parent pipeline has left no \`${path}\``)
}

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = new URL('../src/', import.meta.url).pathname

interface Source {
  /** Below src, such as `projects/badges/queries.ts`. */
  readonly path: string
  readonly text: string
  readonly imports: readonly {
    readonly from: string
    readonly typeOnly: boolean
    readonly names: readonly string[]
  }[]
}

/** The names that an import takes, without types. */
function namesIn(clause: string): string[] {
  return clause
    .replace(/[{}]/g, '')
    .split(',')
    .map((name) => name.trim().split(' as ')[0] ?? '')
    .filter((name) => name !== '' && !name.startsWith('type '))
}

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('web/browser/'))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const imports = [
      ...text.matchAll(/^import\s+(type\s)?([^'"]*?)from\s+'([^']+)'|^import\s+'([^']+)'/gms),
    ].map((found) => ({
      from: found[3] ?? found[4] ?? '',
      typeOnly: found[1] !== undefined,
      names: namesIn(found[2] ?? ''),
    }))
    return { path: path.split(sep).join('/'), text, imports }
  })

/** The layers in their order: each may import those it names, and the type `Ctx`. */
const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  store: ['base'],
  git: ['base'],
  access: ['base', 'store'],
  markdown: ['base', 'store', 'git', 'access'],
  background: ['base', 'store'],
  http: ['base', 'access'],
}

/** The areas in their order: each may import the layers and the areas before it. */
const areas = [
  'identity',
  'projects',
  'repositories',
  'discussions',
  'planning',
  'review',
  'publishing',
  'ci',
  'packages',
  'monitoring',
  'notifications',
  'instance',
]

function partOf(path: string): string {
  return path.split('/')[0] ?? ''
}

/** The folders of src/git in their order, `.` for its own files. */
const engineFolders = [
  ...['locks', '.', 'engine', 'ref-files', 'objects', 'history', 'refs', 'diff', 'write', 'merge'],
  ...['archive', 'transfer', 'maintenance', 'service'],
]

/** The folder of a file of the engine; two that tie folders together go with those that they tie. */
function engineFolderOf(path: string): string {
  if (path === 'git/repo.ts') return 'engine'
  if (path === 'git/store.ts') return 'service'
  const [, folder = '', ...rest] = path.split('/')
  return rest.length > 0 ? folder : '.'
}

/** The resource folder of a path, such as `planning/labels`, when it is in one. */
function resourceOf(path: string): string | undefined {
  const [area = '', resource = '', ...rest] = path.split('/')
  return areas.includes(area) && rest.length > 0 ? `${area}/${resource}` : undefined
}

function ownImports(
  source: Source,
): { target: string; typeOnly: boolean; names: readonly string[] }[] {
  return source.imports
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from, typeOnly, names }) => ({
      target: normalize(join(dirname(source.path), from)),
      typeOnly,
      names,
    }))
}

/** Files that may ask for a role: they find records, name conditions, present, or answer who sees what. */
const keepers =
  /(^|\/)(access|conditions|entity|present[a-z-]*|visible-[a-z-]*|([a-z-]+-)?queries)\.ts$/

/** What is held to asking for roles in those files: the areas, and git over HTTP with LFS. */
const judged = [...areas, 'transport']

/** Folders with a file for each table or migration. */
const lists = new Set(['store/migrations', 'store/schema'])

/** What the files of areas ask that may not: `path: names`. */
function rolesAskedBy(asked: (source: Source) => readonly string[]): string[] {
  return sources
    .filter(({ path }) => judged.includes(partOf(path)))
    .filter(({ path }) => !keepers.test(path))
    .flatMap((source) => {
      const found = asked(source)
      return found.length > 0 ? [`${source.path}: ${found.join(', ')}`] : []
    })
}

/** All that a folder imports, by way of others too. */
function reached(imports: ReadonlyMap<string, ReadonlySet<string>>, from: string): Set<string> {
  const found = new Set<string>()
  const open = [...(imports.get(from) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue
    found.add(next)
    open.push(...(imports.get(next) ?? []))
  }
  return found
}

/** How queries that change nothing are called. */
const reads = /^(find|list|count|sum|has|is)[A-Z]/

const layersAndAreas = [...Object.keys(layers), ...areas]

/** Which parts of src a part may import from, beside itself and the type `Ctx`. */
const mayImport: Readonly<Record<string, readonly string[] | 'all'>> = {
  ...layers,
  ...Object.fromEntries(
    areas.map((area, at) => [area, [...Object.keys(layers), ...areas.slice(0, at), 'manifest.ts']]),
  ),
  transport: layersAndAreas,
  web: layersAndAreas,
  // It speaks the public protocol, and knows nothing else of the server.
  runner: ['base'],
  cli: [...layersAndAreas, 'transport', 'runner', 'areas.ts', 'parts.ts', 'main.ts', 'app.ts'],
  'manifest.ts': ['base', 'store', 'background', 'http'],
  'areas.ts': 'all',
  'effects.ts': 'all',
  'readers.ts': 'all',
  'parts.ts': 'all',
  'app.ts': 'all',
  'main.ts': 'all',
  'ctx.ts': ['base', 'store', 'git', 'background', 'access'],
}

describe('the parts of src', () => {
  test('import only from the parts that they may', () => {
    const wrong = sources.flatMap((source) => {
      const part = partOf(source.path)
      const allowed = mayImport[part]
      if (allowed === undefined) return [`${source.path}: an unknown part`]
      if (allowed === 'all') return []
      return ownImports(source)
        .filter(({ target, typeOnly }) => {
          const other = partOf(target)
          if (other === part || allowed.includes(other)) return false
          if (target === 'ctx.ts' && typeOnly) return false
          return !(part === 'http' && target === 'git/error.ts')
        })
        .map(({ target }) => `${source.path} imports ${target}`)
    })
    expect(wrong).toEqual([])
  })

  test('resources never import the endpoints of another, and of its queries only those that read', () => {
    const wrong = sources.flatMap((source) => {
      const own = resourceOf(source.path)
      if (own === undefined) return []
      return ownImports(source)
        .filter(({ target, typeOnly, names }) => {
          const other = resourceOf(target)
          if (other === undefined || other === own || typeOnly) return false
          if (/(^|[/-])endpoints\.ts$/.test(target)) return true
          return /(^|[/-])queries\.ts$/.test(target) && !names.every((name) => reads.test(name))
        })
        .map(({ target }) => `${source.path} imports ${target}`)
    })
    expect(wrong).toEqual([])
  })

  test('no resource folders import each other in a circle', () => {
    const imports = new Map<string, Set<string>>()
    for (const source of sources) {
      const own = resourceOf(source.path)
      if (own === undefined) continue
      const others = imports.get(own) ?? new Set()
      for (const { target } of ownImports(source)) {
        const other = resourceOf(target)
        if (other !== undefined && other !== own) others.add(other)
      }
      imports.set(own, others)
    }
    const circles = [...imports.keys()].filter((one) => reached(imports, one).has(one))
    expect(circles.sort()).toEqual([])
  })

  test('the folders of the engine import only from those before them', () => {
    const at = (path: string) => engineFolders.indexOf(engineFolderOf(path))
    const own = sources.filter(({ path }) => partOf(path) === 'git')
    const wrong = own.flatMap((source) =>
      ownImports(source)
        .filter(({ target }) => partOf(target) === 'git' && at(target) > at(source.path))
        .map(({ target }) => `${source.path} imports ${target}`),
    )
    expect(own.map(({ path }) => path).filter((path) => at(path) < 0)).toEqual([])
    expect(wrong).toEqual([])
  })

  test('no files import each other in a circle, not even for types', () => {
    const left = new Map(
      sources.map((source) => [source.path, ownImports(source).map(({ target }) => target)]),
    )
    // What imports nothing that is left is in no circle, and goes.
    for (let count = -1; count !== left.size; ) {
      count = left.size
      for (const [path, targets] of left) {
        if (!targets.some((target) => left.has(target))) left.delete(path)
      }
    }
    expect([...left.keys()]).toEqual([])
  })

  test('no folder holds more than 25 files', () => {
    const counts = new Map<string, number>()
    for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
    const large = [...counts].filter(([folder, count]) => count > 25 && !lists.has(folder))
    expect(large).toEqual([])
  })

  test('only the engine knows nodegit', () => {
    const wrong = sources
      .filter((source) => !source.path.startsWith('git/'))
      .filter(
        (source) =>
          source.imports.some(({ from }) => from === 'nodegit') ||
          /require\('nodegit'\)/.test(source.text),
      )
    expect(wrong.map((source) => source.path)).toEqual([])
  })

  test('only base/patterns knows the library for regular expressions, and only workers compile at once', () => {
    const users = sources.filter((source) => source.imports.some(({ from }) => from === 're2js'))
    expect(users.map((source) => source.path)).toEqual(['base/patterns/compiled.ts'])
    const compilers = sources.filter((source) =>
      source.imports.some(({ from }) => from.endsWith('/patterns/compiled.ts')),
    )
    expect(compilers.map((source) => source.path).sort()).toEqual([
      'ci/job-ends/search-coverage.ts', // a worker
      'repositories/changelog/previous-tag.ts', // a worker
      'review/approval-rules/code-owners.ts', // a worker, or for very little at once
      'runner/globs.ts', // a program of its own
    ])
  })

  test('no RegExp of the language is made of what a user wrote', () => {
    // These are made of texts of our own.
    const ours = [
      'base/patterns/size.ts',
      'base/setting.ts',
      'ci/config/expression.ts',
      'ci/config/yaml-work.ts',
      'discussions/notes/commands.ts',
      'instance/exports/read-import.ts',
      'markdown/find-references.ts',
      'packages/nuget/endpoints.ts',
      'repositories/changelog/version.ts',
      'runner/containers/services.ts',
      'runner/fetch-flags.ts',
      'transport/lfs/route.ts',
    ]
    const makers = sources.filter(({ text }) => /\bRegExp\(/.test(text))
    expect(makers.map((source) => source.path).sort()).toEqual(ours)
  })

  test('only what listens knows Express', () => {
    const listeners = /^(app\.ts|http\/mount\.ts|http\/listener\/|transport\/http\/|web\/)/
    const wrong = sources.filter(
      (source) =>
        !listeners.test(source.path) && source.imports.some(({ from }) => from === 'express'),
    )
    expect(wrong.map((source) => source.path)).toEqual([])
  })

  test('only the owner of a body reads a request', () => {
    const owners = /^http\/(body\/|end-answer\.ts)/
    const reads =
      /\bpipe(line)?\(\s*(request|req)\s*[,)]|\b(request|req)\.(pipe|resume|on\('data')|\bof (request|req)\b\s*(as\b|\))/
    const wrong = sources.filter(({ path, text }) => !owners.test(path) && reads.test(text))
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  test('only the clock reads the time', () => {
    const wrong = sources
      .filter((source) => !/^base\/clock\.ts$|^git\//.test(source.path))
      .filter((source) => /\bnew Date\(\)|\bDate\.now\(\)/.test(source.text))
    expect(wrong.map((source) => source.path)).toEqual([])
  })

  test('each table is written by one folder', () => {
    const built = /\.(?:insertInto|updateTable|deleteFrom|replaceInto)\(\s*'(\w+)'/g
    const inSql = /\b(?:INSERT (?:OR \w+ )?INTO|UPDATE|DELETE FROM) (?!SET\b)([a-z_]+)\b/g
    const writers = new Map<string, Set<string>>()
    for (const source of sources) {
      // Migrations change the tables of all.
      if (source.path.startsWith('store/migrations/')) continue
      const found = [built, inSql].flatMap((pattern) => [...source.text.matchAll(pattern)])
      for (const [, table = ''] of found) {
        const folder = resourceOf(source.path) ?? dirname(source.path)
        writers.set(table, (writers.get(table) ?? new Set()).add(folder))
      }
    }
    const shared = [...writers].filter(([, folders]) => folders.size > 1)
    expect(shared.map(([table, folders]) => `${table}: ${[...folders].sort().join(', ')}`)).toEqual(
      [],
    )
  })

  test('whether pipelines may run is asked by declarations and by what acts for a user only', () => {
    const making = /^ci\/(pipelines\/create|request-pipelines)\//
    // Pushes make pipelines as whoever pushed, without a request of that user.
    const acting = /\/(push-pipelines|config-sources|create-for-request|[a-z-]*endpoints)\.ts$/
    const wrong = sources
      .filter(({ path }) => making.test(path) && !acting.test(path))
      .flatMap((source) =>
        ownImports(source)
          .filter(({ target }) => target === 'ci/pipelines/access.ts')
          .map(({ names }) => `${source.path}: ${names.join(', ')}`),
      )
    expect(wrong).toEqual([])
  })

  test('only access, presenters and what decides who sees what ask for a role', () => {
    // Names from the layer access that answer what a caller may do, or who they are to a subject.
    const asking =
      /^(isAdmin|may(In(Project|Group|Instance|Source)|See)|assertMayIn\w+|find(Group|Project)Role)$/
    const wrong = rolesAskedBy((source) => {
      const names = ownImports(source).flatMap(({ target, names }) =>
        partOf(target) === 'access' ? names : [],
      )
      const asked = names.filter((name) => asking.test(name))
      return /[a-z)]\??\.role\s*(>|<|[!=]==)/.test(source.text) ? [...asked, '.role'] : asked
    })
    expect(wrong).toEqual([])
  })

  test('SQL is written in query files', () => {
    const wrong = sources
      .filter((source) => !/(^|[/-])queries\.ts$|^store\//.test(source.path))
      .filter((source) => /\.(selectFrom|insertInto|updateTable|deleteFrom)\(/.test(source.text))
    expect(wrong.map((source) => source.path)).toEqual([])
  })
})

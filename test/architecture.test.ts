import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = new URL('../src/', import.meta.url).pathname

interface Source {
  /** Below src, such as `api/badges/queries.ts`. */
  readonly path: string
  readonly text: string
  readonly imports: readonly { readonly from: string; readonly typeOnly: boolean }[]
}

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const imports = [
      ...text.matchAll(/^import\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gms),
    ].map((found) => ({ from: found[2] ?? found[3] ?? '', typeOnly: found[1] !== undefined }))
    return { path: path.split(sep).join('/'), text, imports }
  })

/** Areas that have left src/api already; they and it import each other until all have. */
const movedAreas = ['ci', 'packages', 'monitoring']

function roomOf(path: string): string {
  const [first = ''] = path.split('/')
  return movedAreas.includes(first) ? 'api' : first
}

function ownImports(source: Source): { target: string; typeOnly: boolean }[] {
  return source.imports
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from, typeOnly }) => ({
      target: normalize(join(dirname(source.path), from)),
      typeOnly,
    }))
}

/** Which rooms a room may import from, beside itself and the type `Ctx` (README, the rooms). */
const mayImport: Readonly<Record<string, readonly string[] | 'all'>> = {
  base: [],
  store: ['base'],
  git: ['base'],
  access: ['base', 'store'],
  work: ['base', 'store'],
  http: ['base', 'access'],
  api: ['base', 'store', 'git', 'access', 'work', 'http', 'manifest.ts'],
  registry: ['base', 'store', 'git', 'access', 'work', 'http', 'api'],
  transport: ['base', 'store', 'git', 'access', 'work', 'http', 'api'],
  web: ['base', 'store', 'git', 'access', 'work', 'http', 'api'],
  cli: ['base', 'store', 'git', 'access', 'work', 'http', 'api', 'parts.ts', 'main.ts', 'app.ts'],
  'manifest.ts': ['base', 'store', 'work', 'http'],
  'areas.ts': 'all',
  'parts.ts': 'all',
  'app.ts': 'all',
  'main.ts': 'all',
  'ctx.ts': 'all',
}

describe('the rooms', () => {
  test('import only from the rooms that they may', () => {
    const wrong = sources.flatMap((source) => {
      const room = roomOf(source.path)
      const allowed = mayImport[room]
      if (allowed === undefined) return [`${source.path}: an unknown room`]
      if (allowed === 'all') return []
      return ownImports(source)
        .filter(({ target, typeOnly }) => {
          const other = roomOf(target)
          if (other === room || allowed.includes(other)) return false
          if (target === 'ctx.ts' && typeOnly) return false
          return !(room === 'http' && target === 'git/error.ts')
        })
        .map(({ target }) => `${source.path} imports ${target}`)
    })
    expect(wrong).toEqual([])
  })

  test('resources never import the queries or endpoints of another', () => {
    const wrong = sources
      .filter((source) => roomOf(source.path) === 'api' && source.path.split('/').length > 2)
      .flatMap((source) => {
        const own = source.path.split('/')[1]
        return ownImports(source)
          .filter(({ target }) => {
            const [room, other, file = ''] = target.split('/')
            if (roomOf(`${room}/`) !== 'api' || other === own || file === '') return false
            return /(^|-)(queries|endpoints)\.ts$/.test(file)
          })
          .map(({ target }) => `${source.path} imports ${target}`)
      })
    expect(wrong).toEqual([])
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

  test('only the doors know Express', () => {
    const doors = /^(app\.ts|http\/mount\.ts|transport\/http\/|web\/)/
    const wrong = sources.filter(
      (source) => !doors.test(source.path) && source.imports.some(({ from }) => from === 'express'),
    )
    expect(wrong.map((source) => source.path)).toEqual([])
  })

  test('only the clock reads the time', () => {
    const wrong = sources
      .filter((source) => !/^base\/clock\.ts$|^git\//.test(source.path))
      .filter((source) => /\bnew Date\(\)|\bDate\.now\(\)/.test(source.text))
    expect(wrong.map((source) => source.path)).toEqual([])
  })

  test('each table is written by one folder', () => {
    const writers = new Map<string, Set<string>>()
    for (const source of sources) {
      for (const [, table = ''] of source.text.matchAll(
        /\.(?:insertInto|updateTable|deleteFrom|replaceInto)\(\s*'(\w+)'/g,
      )) {
        const folder = dirname(source.path)
        writers.set(table, (writers.get(table) ?? new Set()).add(folder))
      }
    }
    const shared = [...writers].filter(([, folders]) => folders.size > 1)
    expect(shared.map(([table, folders]) => `${table}: ${[...folders].sort().join(', ')}`)).toEqual(
      [],
    )
  })

  test('SQL is written in query files', () => {
    const wrong = sources
      .filter((source) => !/(^|[/-])queries\.ts$|^store\//.test(source.path))
      .filter((source) => /\.(selectFrom|insertInto|updateTable|deleteFrom)\(/.test(source.text))
    expect(wrong.map((source) => source.path)).toEqual([])
  })
})

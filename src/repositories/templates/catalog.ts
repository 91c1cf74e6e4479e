import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findLicense } from '../../projects/projects/facts/licenses.ts'
import type { LicenseTemplate } from './entity.ts'
import { licenseTerms } from './license-terms.ts'

/** The texts are files beside this one: `texts/ci/Python.yml`. */
function readTexts(folder: string, ending: string): Readonly<Record<string, string>> {
  const root = fileURLToPath(new URL(`./texts/${folder}/`, import.meta.url))
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => path.slice(0, -ending.length))
    .sort()
  return Object.fromEntries(names.map((name) => [name, readFileSync(root + name + ending, 'utf8')]))
}

/** Kinds of templates that are a name and a text. */
export type PlainKind = 'dockerfiles' | 'gitignores' | 'ci'

const plain: Readonly<Record<PlainKind, Readonly<Record<string, string>>>> = {
  dockerfiles: readTexts('dockerfiles', '.Dockerfile'),
  gitignores: readTexts('gitignores', '.gitignore'),
  ci: readTexts('ci', '.yml'),
}

/** With `[year]`, `[fullname]` and `[project]` where they belong; long licences are their standard notice. */
const licenses = readTexts('licenses', '.txt')

/** The names of a kind, in their order. */
export function templateNames(kind: PlainKind): readonly string[] {
  return Object.keys(plain[kind])
}

/** The text of a template; letter case does not matter, as long as the name is clear. */
export function findTemplate(
  kind: PlainKind,
  name: string,
): { readonly name: string; readonly content: string } | undefined {
  const found = templateNames(kind).find((one) => one.toLowerCase() === name.toLowerCase())
  const content = found === undefined ? undefined : plain[kind][found]
  return found === undefined || content === undefined ? undefined : { name: found, content }
}

/** Who and what to put into a licence. */
type LicenseNames = Readonly<Record<'year' | 'fullname' | 'project', string | undefined>>

export function licenseKeys(popular?: boolean): string[] {
  return Object.entries(licenseTerms)
    .filter(([, terms]) => popular === undefined || terms.popular === popular)
    .map(([key]) => key)
}

/** A licence with the names put in; what nobody named stays in brackets. */
export function findLicenseTemplate(
  key: string,
  names?: LicenseNames,
): LicenseTemplate | undefined {
  const wanted = key.toLowerCase()
  const terms = Object.hasOwn(licenseTerms, wanted) ? licenseTerms[wanted] : undefined
  const content = licenses[wanted]
  const about = findLicense(wanted)
  if (!terms || content === undefined || !about) return undefined
  return {
    ...about,
    popular: terms.popular,
    description: terms.description,
    conditions: [...terms.conditions],
    permissions: [...terms.permissions],
    limitations: [...terms.limitations],
    content: names ? putIn(content, names) : content,
  }
}

function putIn(content: string, names: LicenseNames): string {
  return content.replaceAll(
    /\[(year|fullname|project)\]/g,
    (mark, name: keyof LicenseNames) => names[name] ?? mark,
  )
}

import { findLicense } from '../../projects/projects/facts/licenses.ts'
import { ciTemplates } from './texts/ci.ts'
import { dockerfiles } from './texts/dockerfiles.ts'
import { gitignores } from './texts/gitignores.ts'
import { licenseTexts } from './texts/licenses.ts'

/** Kinds of templates that are a name and a text. */
export type PlainKind = 'dockerfiles' | 'gitignores' | 'ci'

const plain: Readonly<Record<PlainKind, Readonly<Record<string, string>>>> = {
  dockerfiles,
  gitignores,
  ci: ciTemplates,
}

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
export interface LicenseNames {
  readonly year: string
  readonly fullname: string | undefined
  readonly project: string | undefined
}

export interface LicenseTemplate {
  readonly key: string
  readonly name: string
  readonly nickname: string | null
  readonly popular: boolean
  readonly html_url: string
  readonly source_url: string | null
  readonly description: string
  readonly conditions: string[]
  readonly permissions: string[]
  readonly limitations: string[]
  readonly content: string
}

export function licenseKeys(popular?: boolean): string[] {
  return Object.entries(licenseTexts)
    .filter(([, text]) => popular === undefined || text.popular === popular)
    .map(([key]) => key)
}

/** A licence with the names put in; what nobody named stays in brackets. */
export function findLicenseTemplate(
  key: string,
  names?: LicenseNames,
): LicenseTemplate | undefined {
  const wanted = key.toLowerCase()
  const text = Object.hasOwn(licenseTexts, wanted) ? licenseTexts[wanted] : undefined
  const about = findLicense(wanted)
  if (!text || !about) return undefined
  return {
    ...about,
    popular: text.popular,
    description: text.description,
    conditions: [...text.conditions],
    permissions: [...text.permissions],
    limitations: [...text.limitations],
    content: names ? putIn(text.content, names) : text.content,
  }
}

function putIn(content: string, names: LicenseNames): string {
  const values: Readonly<Record<string, string | undefined>> = {
    year: names.year,
    fullname: names.fullname,
    project: names.project,
  }
  return content.replaceAll(
    /\[(year|fullname|project)\]/g,
    (mark, name: string) => values[name] ?? mark,
  )
}

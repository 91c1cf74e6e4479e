import { valid } from 'semver'
import { parseDocument } from 'yaml'
import { badRequest, notFound } from '../../base/problem.ts'

/** What a Chart.yaml says, with a name and version that are checked. */
export interface Chart {
  readonly name: string
  readonly version: string
  readonly content: Readonly<Record<string, unknown>>
}

export const CHART_FILE = { path: /^[^/]+\/Chart\.yaml$/, name: 'Chart.yaml', most: 1024 * 1024 }

const nameForm = /^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/

export function isChannel(text: string): boolean {
  return text.length <= 255 && nameForm.test(text)
}

/** 404 where there can be no such channel. */
export function assertChannel(text: string): void {
  if (!isChannel(text)) throw notFound('Channel')
}

/** Reads a Chart.yaml; aliases, of which a few lines can expand to gigabytes, are not resolved in it. */
export function readChart(text: string): Chart {
  const content = parse(text)
  const { name, version } = content
  if (typeof name !== 'string' || name.length > 255 || !nameForm.test(name)) {
    throw badRequest('Chart.yaml has no valid name')
  }
  if (typeof version !== 'string' || !isVersion(version)) {
    throw badRequest('Chart.yaml has no valid version')
  }
  return { name, version, content }
}

function isVersion(version: string): boolean {
  const plain = version.replace(/^v/, '')
  return version.length <= 255 && /^\d/.test(plain) && valid(plain) !== null
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const document = parseDocument(text, { uniqueKeys: true, stringKeys: true })
    if (document.errors.length === 0) {
      const value: unknown = document.toJS({ maxAliasCount: 0 })
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return value as Record<string, unknown>
      }
    }
  } catch {
    // Also what is nested too deeply for the parser.
  }
  throw badRequest('Chart.yaml is no valid YAML')
}

export function chartFileName({ name, version }: Pick<Chart, 'name' | 'version'>): string {
  return `${name}-${version}.tgz`
}

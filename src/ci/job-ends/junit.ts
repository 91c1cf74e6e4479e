import { XMLParser } from 'fast-xml-parser'
import { workerTask } from '../../base/workers/worker-task.ts'

/** One test of a report. */
export interface JunitCase {
  readonly status: 'success' | 'failed' | 'error' | 'skipped'
  readonly name: string
  readonly classname: string
  readonly file: string | null
  readonly execution_time: number
  readonly system_output: string | null
  readonly stack_trace: string | null
}

type JunitReport = { readonly cases: readonly JunitCase[] } | { readonly fault: string }

/** What is kept of a report: its tests as JSON, and how many ended how. */
export interface JunitSuite {
  readonly total_time: number
  readonly success_count: number
  readonly failed_count: number
  readonly skipped_count: number
  readonly error_count: number
  readonly suite_error: string | null
  readonly cases: string
}

const MOST_CASES = 20_000
const LONGEST_TEXT = 50_000
const DEEPEST = 50

// Entities other than the five of XML are left as they are: none can grow.
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: true,
  htmlEntities: false,
  cdataPropName: '#cdata',
  isArray: (name) => name === 'testsuite' || name === 'testcase',
})

/**
 * Reads JUnit XML, several documents in a row included, as runners put them together. The largest that are taken need
 * seconds, so that it runs in a worker.
 */
export const readSuite = workerTask((text: string): JunitSuite => suiteOf(parseJunit(text)))

/** What is kept of a report that was read, or why it was not. */
export function suiteOf(report: JunitReport): JunitSuite {
  const cases = 'fault' in report ? [] : report.cases
  const count = (status: string) => cases.filter((one) => one.status === status).length
  return {
    total_time: cases.reduce((sum, one) => sum + one.execution_time, 0),
    success_count: count('success'),
    failed_count: count('failed'),
    skipped_count: count('skipped'),
    error_count: count('error'),
    suite_error: 'fault' in report ? report.fault : null,
    cases: JSON.stringify(cases),
  }
}

export function parseJunit(text: string): JunitReport {
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) return { fault: 'Document types are not read in reports' }
  const cases: JunitCase[] = []
  try {
    for (const part of text.split(/(?=<\?xml)/).filter((one) => one.trim() !== '')) {
      collect(parser.parse(part, true), cases, 0)
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read'
    return { fault: `JUnit XML parsing failed: ${reason.slice(0, 500)}` }
  }
  return { cases }
}

type Node = Readonly<Record<string, unknown>>

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function nodes(value: unknown): Node[] {
  return (Array.isArray(value) ? value : [value]).filter(isNode)
}

function collect(node: unknown, cases: JunitCase[], depth: number): void {
  if (!isNode(node) || depth > DEEPEST) return
  for (const one of nodes(node.testcase)) if (cases.length < MOST_CASES) cases.push(caseOf(one))
  for (const key of ['testsuites', 'testsuite']) {
    for (const inner of nodes(node[key])) collect(inner, cases, depth + 1)
  }
}

function caseOf(node: Node): JunitCase {
  const result = (['failure', 'error', 'skipped'] as const).find((key) => node[key] !== undefined)
  const statuses = { failure: 'failed', error: 'error', skipped: 'skipped' } as const
  return {
    status: result ? statuses[result] : 'success',
    name: attribute(node, 'name') ?? '',
    classname: attribute(node, 'classname') ?? '',
    file: attribute(node, 'file') ?? null,
    execution_time: secondsOf(attribute(node, 'time')),
    system_output: result ? textOf(node[result]) : textOf(node['system-out']),
    stack_trace: null,
  }
}

function secondsOf(text: string | undefined): number {
  const seconds = Number.parseFloat(text ?? '')
  return Number.isFinite(seconds) ? seconds : 0
}

function attribute(node: Node, name: string): string | undefined {
  const value = node[`@${name}`]
  return typeof value === 'string' ? value : undefined
}

/** The text of an element with that of its message. */
function textOf(value: unknown): string | null {
  const [first] = Array.isArray(value) ? value : [value]
  if (typeof first === 'string') return first.slice(0, LONGEST_TEXT) || null
  if (!isNode(first)) return null
  const parts = [attribute(first, 'message'), first['#text'], first['#cdata']]
  const text = parts.filter((part): part is string => typeof part === 'string').join('\n')
  return text.slice(0, LONGEST_TEXT) || null
}

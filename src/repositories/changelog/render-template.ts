import { ChangelogFailure } from './failure.ts'
import type { Node, Step, Template } from './template.ts'

/** What a template can see: JSON, nothing with behaviour. */
export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly TemplateValue[]
  | { readonly [key: string]: TemplateValue }

const mostLoops = 4
/** Far beyond any changelog of 15,000 commits; stops templates that repeat themselves. */
const mostSteps = 5_000_000
const longestOutput = 20_000_000

function isMap(value: TemplateValue): value is { readonly [key: string]: TemplateValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function lookUp(value: TemplateValue, step: Step): TemplateValue {
  if ('it' in step) return value
  if ('index' in step) return Array.isArray(value) ? value[step.index] : undefined
  return isMap(value) && Object.hasOwn(value, step.name) ? value[step.name] : undefined
}

function resolve(path: readonly Step[], scope: TemplateValue): TemplateValue {
  let value = scope
  for (const step of path) value = lookUp(value, step)
  return value
}

function isTruthy(value: TemplateValue): boolean {
  if (value === null || value === undefined || value === false || value === '') return false
  if (Array.isArray(value)) return value.length > 0
  return isMap(value) ? Object.keys(value).length > 0 : true
}

/** The elements of a list, or a map's pairs. */
function elements(value: TemplateValue): readonly TemplateValue[] {
  if (Array.isArray(value)) return value
  return isMap(value) ? Object.entries(value) : []
}

function printed(value: TemplateValue): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

class Renderer {
  readonly #pieces: string[] = []
  #length = 0
  #steps = 0
  #loops = 0

  get text(): string {
    return this.#pieces.join('')
  }

  render(nodes: readonly Node[], scope: TemplateValue): void {
    for (const node of nodes) {
      this.#steps += 1
      if (this.#steps > mostSteps) throw new ChangelogFailure('The template takes too long to run')
      if (node.kind === 'text') this.#write(node.text)
      else if (node.kind === 'print') this.#write(printed(resolve(node.path, scope)))
      else if (node.kind === 'if') {
        this.render(isTruthy(resolve(node.path, scope)) ? node.yes : node.no, scope)
      } else this.#each(node.body, elements(resolve(node.path, scope)))
    }
  }

  #each(body: readonly Node[], values: readonly TemplateValue[]): void {
    if (this.#loops === mostLoops) {
      throw new ChangelogFailure(`You can only nest up to ${mostLoops} loops`)
    }
    this.#loops += 1
    for (const value of values) {
      this.#steps += 1
      this.render(body, value)
    }
    this.#loops -= 1
  }

  #write(text: string): void {
    this.#length += text.length
    if (this.#length > longestOutput) {
      throw new ChangelogFailure('The template makes too much text')
    }
    this.#pieces.push(text)
  }
}

/** Renders a template over plain data (docs/contract/B-resolved §1.8, "Template language"). */
export function renderTemplate(template: Template, data: TemplateValue): string {
  const renderer = new Renderer()
  renderer.render(template, data)
  return renderer.text
}

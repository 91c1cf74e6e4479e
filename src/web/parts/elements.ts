import { type ComponentChildren, h, type VNode } from 'preact'

/** Attributes of an element that `browser/main.ts` gives its behaviour; without script it is what it holds. */
type ElementProps = Readonly<Record<string, unknown>> & { readonly children?: ComponentChildren }

function element(name: string): (props: ElementProps) => VNode {
  return (props) => h(name, props)
}

export const RelativeTime = element('relative-time')
export const ClipboardCopy = element('clipboard-copy')

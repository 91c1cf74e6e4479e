import { useShown } from '../context.ts'

/** A text of a person as the renderer of Markdown made it: that escapes what is not its own. */
export function Markdown({ html }: { html: string }) {
  const { externalUrl } = useShown()
  // Made by src/markdown, which lets no HTML of a text through
  return (
    <div class="markdown" dangerouslySetInnerHTML={{ __html: withoutForeign(html, externalUrl) }} />
  )
}

/** Pictures of other servers as their texts: pages load nothing from elsewhere, and browsers would say so on each of them. */
export function withoutForeign(html: string, externalUrl: string): string {
  return html.replace(/<img [^>]*>/g, (tag) => {
    // As they stand in the tag, escaped.
    const src = / src="([^"]*)"/.exec(tag)?.[1] ?? ''
    const alt = / alt="([^"]*)"/.exec(tag)?.[1] ?? ''
    const isForeign = /^(?:https?:)?\/\//.test(src) && !src.startsWith(`${externalUrl}/`)
    return isForeign ? `<span title="${src}">${alt || src}</span>` : tag
  })
}

/** The address of the script of Mermaid, beside the script that imports it. */
declare module '@mermaid-js/tiny/dist/mermaid.tiny.js' {
  const address: string
  // biome-ignore lint/style/noDefaultExport: the bundler gives an address this way
  export default address
}

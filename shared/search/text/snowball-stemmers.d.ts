declare module 'snowball-stemmers' {
  const snowball: {
    /** Makes a stemmer of one of the algorithms; throws for any other name. */
    newStemmer(algorithm: string): { stem(word: string): string }
  }
  export = snowball
}

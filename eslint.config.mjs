// Unknown names are found by tsc.
import js from "@eslint/js";

export default [
  {
    files: ["explorer/*.js", "tests/js/*.mjs"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    rules: {
      ...js.configs.recommended.rules,
      "no-undef": "off",
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "no-unused-expressions": "error",
      "no-implied-eval": "error",
    },
  },
];

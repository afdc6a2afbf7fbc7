// SPDX-License-Identifier: Apache-2.0

// promcheck checks text with the parsers of Prometheus. It reads standard input and prints one line
// for each problem, then a summary. Its only argument says what the text is:
//
//	text/plain... or application/openmetrics-text...   metrics, in the format of this media type
//	rules                                              a file of alerting rules
//	promql                                             expressions, one per line
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql/parser"
)

// scrape reads as a server of Prometheus does, and complains of series that come twice.
func scrape(text []byte, mediaType string) (series int, complaints []string) {
	reader, err := textparse.New(text, mediaType, labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		return 0, []string{fmt.Sprintf("no parser: %v", err)}
	}
	seen := map[string]bool{}
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return series, complaints
		}
		if err != nil {
			return series, append(complaints, fmt.Sprintf("after %d series: %v", series, err))
		}
		if entry != textparse.EntrySeries {
			continue
		}
		series++
		var found labels.Labels
		reader.Labels(&found)
		if seen[found.String()] {
			complaints = append(complaints, "twice: "+found.String())
		}
		seen[found.String()] = true
	}
}

// families are those that the parser of the text format finds.
func families(text []byte) (count int, complaints []string) {
	reader := expfmt.NewTextParser(model.LegacyValidation)
	found, err := reader.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return 0, []string{fmt.Sprintf("expfmt: %v", err)}
	}
	return len(found), nil
}

// lint has promtool's rules.
func lint(text []byte) (complaints []string) {
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		return []string{fmt.Sprintf("promlint: %v", err)}
	}
	for _, problem := range problems {
		complaints = append(complaints, fmt.Sprintf("%s: %s", problem.Metric, problem.Text))
	}
	return complaints
}

// metrics are checked by every parser for their format, and by the rules of promtool.
func metrics(text []byte, mediaType string) (summary string, complaints []string) {
	series, complaints := scrape(text, mediaType)
	count := 0
	if strings.HasPrefix(mediaType, "text/plain") {
		var more []string
		count, more = families(text)
		complaints = append(append(complaints, more...), lint(text)...)
	}
	return fmt.Sprintf("%d series, %d families", series, count), complaints
}

// rules are read as by a server of Prometheus, with their expressions and templates.
func rules(text []byte) (summary string, complaints []string) {
	groups, errs := rulefmt.Parse(text, false, model.LegacyValidation)
	for _, err := range errs {
		complaints = append(complaints, err.Error())
	}
	count := 0
	if groups != nil {
		for _, group := range groups.Groups {
			count += len(group.Rules)
		}
	}
	return fmt.Sprintf("%d rules", count), complaints
}

// expressions of PromQL, one per line.
func expressions(text []byte) (summary string, complaints []string) {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines {
		if _, err := parser.ParseExpr(line); err != nil {
			complaints = append(complaints, fmt.Sprintf("%s: %v", line, err))
		}
	}
	return fmt.Sprintf("%d expressions", len(lines)), complaints
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: promcheck media-type|rules|promql < text")
		os.Exit(2)
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var summary string
	var complaints []string
	switch os.Args[1] {
	case "rules":
		summary, complaints = rules(text)
	case "promql":
		summary, complaints = expressions(text)
	default:
		summary, complaints = metrics(text, os.Args[1])
	}
	sort.Strings(complaints)
	for _, complaint := range complaints {
		fmt.Println(complaint)
	}
	fmt.Printf("%s, %d complaints\n", summary, len(complaints))
	if len(complaints) != 0 {
		os.Exit(1)
	}
}

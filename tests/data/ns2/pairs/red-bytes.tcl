set ns [new Simulator]
set trace [open [lindex $argv 0] w]
$ns trace-all $trace
set n0 [$ns node]
set n1 [$ns node]
$ns simplex-link $n0 $n1 10Mb 20ms RED
$ns simplex-link $n1 $n0 10Mb 20ms DropTail
foreach {i start} {0 0.1 1 0.23} {
    set s [new Agent/TCP/Newreno]
    $s set window_ 60
    $s set fid_ $i
    set k [new Agent/TCPSink]
    $ns attach-agent $n0 $s
    $ns attach-agent $n1 $k
    $ns connect $s $k
    set a [new Application/FTP]
    $a attach-agent $s
    $ns at $start "$a start"
}
$ns at 2 "$ns flush-trace; close $trace; exit 0"
$ns run
